import { Router } from 'express';
import type { Holdings } from '../access/holdings.js';
import type { TiersOptions } from '../access/tiers.js';
import type { Facilitator } from '../facilitator/types.js';
import { createHealthRouter } from './health-router.js';
import { problemHandler } from './problem-handler.js';
import { createTokenGateRouter } from './token-gate-router.js';
import { createX402Router } from './x402-router.js';

/** Options of {@link createRouter}. */
export interface RouterOptions {
  readonly facilitator: Facilitator;
  /** Membership tiers. Default: `bronze`, `silver` and `gold` from 100, 1,000 and 10,000 USDC. */
  readonly tiers?: TiersOptions;
  /** What wallets hold. Default: what all gates on this facilitator share, at most 15 s old. */
  readonly holdings?: Holdings;
}

/** The whole service as one router, for an app of your own: `app.use(createRouter({ facilitator }))`. */
export function createRouter({ facilitator, tiers, holdings }: RouterOptions): Router {
  const router = Router();
  router.use(createHealthRouter(facilitator));
  router.use(createX402Router(facilitator));
  router.use(createTokenGateRouter({ facilitator, tiers, holdings }));
  router.use(problemHandler);
  return router;
}
