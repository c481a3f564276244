import { defined } from '../lib/defined.js';
/** A JSON Schema (2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Methods whose input is in the address. */
export const QUERY_METHODS = ['GET', 'HEAD', 'DELETE'] as const;
/** Methods whose input is in the body. */
export const BODY_METHODS = ['POST', 'PUT', 'PATCH'] as const;
/** How a body may be written. */
export const BODY_TYPES = ['json', 'form-data', 'text'] as const;

/** A method that a listed route can have. */
export type RouteMethod = (typeof QUERY_METHODS)[number] | (typeof BODY_METHODS)[number];

/** How a route is called and what it answers, as its seller declares it. */
export interface RouteDeclaration {
  readonly method: RouteMethod;
  /** With Express's `:names`. */
  readonly path: string;
  /** Example of the query, or of the body. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  /** Its schema; what is left out of an object's schema is `type: 'object'`. */
  readonly inputSchema?: JsonSchema | undefined;
  /** Example of what stands for the `:names`. */
  readonly pathParams?: Readonly<Record<string, unknown>> | undefined;
  readonly pathParamsSchema?: JsonSchema | undefined;
  /** Of the methods with a body. */
  readonly bodyType?: (typeof BODY_TYPES)[number] | undefined;
  readonly output?: { readonly example: unknown; readonly schema?: JsonSchema | undefined } | undefined;
}

/** Name of the extension on the wire. */
export const BAZAAR = 'bazaar';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const TEXT = { type: 'string' };

/** The discovery data of a route as a 402 and the catalogue carry it: the `bazaar` extension of x402 (protocol/README.md, "Extensions"). */
export function bazaarExtension(route: RouteDeclaration) {
  const names = pathNames(route.path);
  const output = route.output === undefined ? undefined : outputParts(route.output);
  const input = route.bodyType === undefined ? queryParts(route) : bodyParts(route, route.bodyType);
  const path = names.length === 0 ? undefined : pathParts(route, names);
  return {
    ...(path === undefined ? {} : { routeTemplate: route.path }),
    info: {
      input: { type: 'http', method: route.method, ...input.info, ...path?.info },
      ...(output === undefined ? {} : { output: output.info }),
    },
    schema: {
      $schema: DIALECT,
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            type: { type: 'string', const: 'http' },
            method: { type: 'string', enum: [route.method] },
            ...input.properties,
            ...path?.properties,
          },
          required: ['type', 'method', ...input.required],
          additionalProperties: false,
        },
        ...(output === undefined ? {} : { output: output.schema }),
      },
      required: ['input'],
    },
  };
}

/** The `:names` of a path, in their order. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/:([A-Za-z_]\w*)/g)].map(([, name = '']) => name);
}

function queryParts({ input = {}, inputSchema = { properties: {} } }: RouteDeclaration) {
  return {
    info: { queryParams: input },
    properties: { queryParams: { type: 'object', ...inputSchema } },
    required: [],
  };
}

function bodyParts({ input = {}, inputSchema = { properties: {} } }: RouteDeclaration, bodyType: string) {
  return {
    info: { bodyType, body: input },
    properties: { bodyType: { type: 'string', enum: [...BODY_TYPES] }, body: inputSchema },
    required: ['bodyType', 'body'],
  };
}

function pathParts({ pathParams, pathParamsSchema }: RouteDeclaration, names: readonly string[]) {
  const named = { properties: Object.fromEntries(names.map((name) => [name, TEXT])), required: names };
  return {
    info: defined({ pathParams }),
    properties: { pathParams: { type: 'object', ...(pathParamsSchema ?? named) } },
  };
}

function outputParts({ example, schema }: NonNullable<RouteDeclaration['output']>) {
  const isObject = typeof example === 'object' && example !== null && !Array.isArray(example);
  return {
    info: { type: 'json', example },
    schema: {
      type: 'object',
      properties: { type: TEXT, example: { ...(isObject ? { type: 'object' } : {}), ...schema } },
      required: ['type'],
    },
  };
}
