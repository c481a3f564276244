import { createHash } from 'node:crypto';
import type { Request } from 'express';
import type { Networks } from '../../facilitator/networks/networks.js';
import { groupBy } from '../../lib/group-by.js';
import { trimEnd } from '../../lib/trim-end.js';
import { VERSION } from '../../lib/version.js';
import { mountAddress, requestOrigin } from '../../middleware/gate/request-url.js';
import { catalogueOf, type Listing } from '../../middleware/terms/catalogue.js';
import type { OperationDescription } from '../framework/operation.js';
import { SERVICE_NAME } from '../framework/service-info.js';
import { describeListing } from './listings.js';
import { type OpenApiDocument, openApiDocument, openApiPath } from './openapi.js';

/** What {@link serviceDocument} describes. */
export interface ServiceDocumentParts {
  readonly networks: Networks;
  /** What is mounted, in its order; asked for once, when the document is. */
  readonly operations: () => readonly OperationDescription[];
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
}

/** A document as it goes over the wire: what is of one address, and the most of it, which is written once for all. */
export interface WrittenDocument {
  readonly begin: Buffer;
  readonly rest: Buffer;
  /** Its `ETag`. */
  readonly tag: string;
}

/** The document, for the server that a request was sent to. */
export interface ServiceDocument {
  readonly document: (req: Request) => OpenApiDocument;
  readonly written: (req: Request) => WrittenDocument;
}

/**
 * Makes the OpenAPI document of the service for the server that a request was sent to: the operations, and the gated routes
 * on this facilitator that were given `discovery`.
 */
export function serviceDocument({ networks, operations, baseUrl }: ServiceDocumentParts): ServiceDocument {
  const fixed = openApiDocument(SERVICE_NAME, VERSION, operations());
  const { paths, components, ...about } = fixed;
  const gatedFor = (req: Request): Record<string, object> => {
    const listings = networks.all.flatMap((it) => catalogueOf(it).listings());
    return gatedPaths(listings, requestOrigin(req, baseUrl));
  };
  const serversFor = (req: Request): object[] => [{ url: mountAddress(req, baseUrl) }];
  const rest = Buffer.from(`${JSON.stringify(paths).slice(1)},"components":${JSON.stringify(components)}}`);
  const ofRest = createHash('sha256').update(rest).digest();
  return {
    document: (req) => ({ ...fixed, servers: serversFor(req), paths: { ...gatedFor(req), ...paths } }),
    written(req) {
      const gated = Object.entries(gatedFor(req)).filter(([path]) => !Object.hasOwn(paths, path));
      const own = gated.map(([path, item]) => `${JSON.stringify(path)}:${JSON.stringify(item)},`).join('');
      const head = JSON.stringify({ ...about, servers: serversFor(req) });
      const begin = Buffer.from(`${head.slice(0, -1)},"paths":{${own}`);
      const tag = createHash('sha256').update(ofRest).update(begin).digest('base64url');
      return { begin, rest, tag: `"${tag}"` };
    },
  };
}

function gatedPaths(listings: readonly Listing[], origin: string): Record<string, object> {
  const byPath = groupBy(listings, ({ path }) => openApiPath(path));
  return Object.fromEntries(
    [...byPath].map(([path, some]) => [
      path,
      Object.fromEntries(
        some.map((it) => [it.method.toLowerCase(), describeListing(it, trimEnd(it.baseUrl ?? origin, '/'))]),
      ),
    ]),
  );
}
