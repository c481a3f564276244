import type { Request } from 'express';
import type { Facilitator } from '../facilitator/types.js';
import { catalogueOf, type Listing } from '../middleware/catalogue.js';
import { mountAddress, requestOrigin } from '../middleware/request-url.js';
import { trimEnd } from '../protocol/trim-end.js';
import { groupBy } from './group-by.js';
import type { Mounted } from './mounted.js';
import { type OpenApiDocument, openApiDocument, openApiPath } from './openapi.js';
import { describeListing } from './openapi-gated.js';
import { operationsOf } from './operations.js';
import { SERVICE } from './service-info.js';

/** What {@link serviceDocument} describes. */
export interface ServiceDocumentParts {
  readonly facilitator: Facilitator;
  readonly mounted: Mounted;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
}

/**
 * Makes the OpenAPI document of the service for the server that a request was sent to: the operations, and the gated routes
 * on this facilitator that were given `discovery`.
 */
export function serviceDocument({ facilitator, mounted, baseUrl }: ServiceDocumentParts) {
  const fixed = openApiDocument(SERVICE.service, SERVICE.version, operationsOf(mounted));
  return (req: Request): OpenApiDocument => {
    const gated = gatedPaths(catalogueOf(facilitator).listings(), requestOrigin(req, baseUrl));
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
