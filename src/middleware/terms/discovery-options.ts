import { z } from 'zod';
import { BODY_METHODS, BODY_TYPES, pathNames, QUERY_METHODS, type RouteDeclaration } from '../../protocol/bazaar.js';

/**
 * What `requirePayment` tells about its route to those who look for things to buy: in the 402 (x402's `bazaar` extension)
 * and at `/discovery`. The names are those of `declareDiscoveryExtension` of `@x402/extensions`.
 */
export interface DiscoveryOptions extends Omit<RouteDeclaration, 'method'> {
  /**
   * Path of the route as clients see it, prefixes of routers included, with Express's `:names`: `/reports/:id`. A gate cannot
   * see where it is mounted, and nothing checks this path against it.
   */
  readonly path: string;
  /** Method of the route. Default `GET`, with `bodyType` `POST`. */
  readonly method?: RouteDeclaration['method'] | undefined;
  /** Name of the service, at most 32 printable ASCII characters. */
  readonly serviceName?: string | undefined;
  /** At most five, each at most 32 printable ASCII characters. */
  readonly tags?: readonly string[] | undefined;
  /** Absolute http(s) address of a picture. */
  readonly iconUrl?: string | undefined;
}

const label = z.string().regex(/^[ -~]{1,32}$/, '1 to 32 printable ASCII characters');
const record = z.record(z.string(), z.unknown(), 'an object');

const routePath = z
  .string('a path such as "/report"')
  .max(500, 'at most 500 characters')
  .regex(/^\/[\w/:.\-~%]*$/, 'a path that begins with "/", such as "/report" or "/reports/:id"')
  .refine((path) => !path.includes('..') && !path.includes('://'), 'a path without ".." and "://"');

/** Schema of {@link DiscoveryOptions}; the default of `method` stands here. */
export const discoveryOptions = z
  .strictObject({
    path: routePath,
    method: z.enum([...QUERY_METHODS, ...BODY_METHODS], 'an HTTP method in capitals').optional(),
    input: record.optional(),
    inputSchema: record.optional(),
    pathParams: record.optional(),
    pathParamsSchema: record.optional(),
    bodyType: z.enum(BODY_TYPES, '"json", "form-data" or "text"').optional(),
    output: z.strictObject({ example: z.unknown(), schema: record.optional() }).optional(),
    serviceName: label.optional(),
    tags: z.array(label).max(5, 'at most 5 tags').optional(),
    iconUrl: z
      .url({ protocol: /^https?$/, error: 'an absolute http(s) address' })
      .max(2048)
      .optional(),
  })
  .refine(
    ({ method, bodyType }) => method === undefined || isBodyMethod(method) === (bodyType !== undefined),
    'a bodyType exactly where the method (POST, PUT, PATCH) has a body',
  )
  .refine(
    ({ path, pathParams = {} }) => Object.keys(pathParams).every((name) => pathNames(path).includes(name)),
    'pathParams that stand in the path',
  )
  .transform((it) => ({ ...it, method: it.method ?? (it.bodyType === undefined ? 'GET' : 'POST') }) as const);

function isBodyMethod(method: string): boolean {
  return BODY_METHODS.some((it) => it === method);
}
