import { Router } from 'express';
import { handled } from '../framework/handled.js';
import { problemHandler } from '../framework/problem-handler.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import type { ServiceDocumentParts, serviceDocument } from './service-document.js';

/**
 * `GET /openapi.json`: the operations, and the gated routes on this facilitator that were given `discovery`. The document is
 * made when it is first asked for, and so are the schemas in it, of which it has most for itself.
 */
export function createOpenApiRouter(parts: ServiceDocumentParts): Router {
  let document: Promise<ReturnType<typeof serviceDocument>> | undefined;
  const router = Router();
  router
    .route('/openapi.json')
    .get(
      handled(async (req, res) => {
        document ??= makeDocument(parts);
        res.json((await document)(req));
      }),
    )
    .all(refuseOtherMethods('GET', 'HEAD'));
  router.use(problemHandler);
  return router;
}

async function makeDocument(parts: ServiceDocumentParts) {
  const { serviceDocument } = await import('./service-document.js');
  return serviceDocument(parts);
}
