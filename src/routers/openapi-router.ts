import { type Request, Router } from 'express';
import type { Facilitator } from '../facilitator/types.js';
import { catalogueOf, type Listing } from '../middleware/catalogue.js';
import { mountAddress, requestOrigin } from '../middleware/request-url.js';
import { trimEnd } from '../protocol/trim-end.js';
import { groupBy } from './group-by.js';
import { type OpenApiDocument, openApiDocument, openApiPath } from './openapi.js';
import { describeListing } from './openapi-gated.js';
import type { Operation } from './operation.js';
import { problemHandler } from './problem-handler.js';
import { refuseOtherMethods } from './refuse-other-methods.js';
import { SERVICE } from './service-info.js';

/** Options of {@link createOpenApiRouter}. */
export interface OpenApiRouterOptions {
  readonly facilitator: Facilitator;
  /** Everything that is mounted. */
  readonly operations: readonly Operation[];
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
}

/**
 * `GET /openapi.json`: the operations, and the gated routes on this facilitator that were given `discovery`. The document is
 * made when it is first asked for.
 */
export function createOpenApiRouter({ facilitator, operations, baseUrl }: OpenApiRouterOptions): Router {
  let fixed: OpenApiDocument | undefined;
  function documentFor(req: Request): OpenApiDocument {
    fixed ??= openApiDocument(SERVICE.service, SERVICE.version, operations);
    const gated = gatedPaths(catalogueOf(facilitator).listings(), requestOrigin(req, baseUrl));
    return { ...fixed, servers: [{ url: mountAddress(req, baseUrl) }], paths: { ...gated, ...fixed.paths } };
  }
  const router = Router();
  router
    .route('/openapi.json')
    .get((req, res) => void res.json(documentFor(req)))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router.use(problemHandler);
  return router;
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
