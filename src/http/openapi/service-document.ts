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

/**
 * Makes the OpenAPI document of the service for the server that a request was sent to: the operations, and the gated routes
 * on this facilitator that were given `discovery`.
 */
export function serviceDocument({ networks, operations, baseUrl }: ServiceDocumentParts) {
  const fixed = openApiDocument(SERVICE_NAME, VERSION, operations());
  return (req: Request): OpenApiDocument => {
    const gated = gatedPaths(
      networks.all.flatMap((it) => catalogueOf(it).listings()),
      requestOrigin(req, baseUrl),
    );
    return { ...fixed, servers: [{ url: mountAddress(req, baseUrl) }], paths: { ...gated, ...fixed.paths } };
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
