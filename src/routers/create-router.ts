import { Router } from 'express';
import type { Facilitator } from '../facilitator/types.js';
import { createHealthRouter } from './health-router.js';
import { problemHandler } from './problem-handler.js';
import { createX402Router } from './x402-router.js';

/** Options of {@link createRouter}. */
export interface RouterOptions {
  readonly facilitator: Facilitator;
}

/** The whole service as one router, for an app of your own: `app.use(createRouter({ facilitator }))`. */
export function createRouter({ facilitator }: RouterOptions): Router {
  const router = Router();
  router.use(createHealthRouter(facilitator));
  router.use(createX402Router(facilitator));
  router.use(problemHandler);
  return router;
}
