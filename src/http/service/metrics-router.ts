import { type Response, Router } from 'express';
import { sendProblem } from '../../middleware/gate/respond.js';
import { handled } from '../framework/handled.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import type { Metrics } from './metrics.js';

/** `GET /metrics` in Prometheus's text form; 501 where `prom-client` is not installed. */
export function createMetricsRouter(metrics: Metrics): Router {
  const router = Router();
  router
    .route('/metrics')
    .get(handled(async (_req, res) => answer(metrics, res)))
    .all(refuseOtherMethods('GET', 'HEAD'));
  return router;
}

async function answer(metrics: Metrics, res: Response): Promise<void> {
  const exposed = await metrics.expose();
  if (exposed === undefined) {
    const detail = 'There are no metrics here: the package "prom-client" is not installed on this server.';
    return sendProblem(res, 'not_configured', detail);
  }
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Type', exposed.contentType);
  res.end(exposed.text);
}
