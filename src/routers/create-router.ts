import { Router } from 'express';
import type { Holdings } from '../access/holdings.js';
import type { TiersOptions } from '../access/tiers.js';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import type { WalletIdentity } from '../identity/create-identity.js';
import { createAuthRouter } from './auth-router.js';
import { createPaymentsRouter } from './payments-router.js';
import { problemHandler } from './problem-handler.js';
import { createServiceRouter } from './service-router.js';
import { createSettlementRouter } from './settlement-router.js';
import { createTokenGateRouter } from './token-gate-router.js';

/** Options of {@link createRouter}. */
export interface RouterOptions {
  /** An embedded one: payments of our own making need a chain. */
  readonly facilitator: EmbeddedFacilitator;
  /** Who signs in; without it there are no sign-in endpoints. */
  readonly identity?: WalletIdentity;
  /** Membership tiers. Default: `bronze`, `silver` and `gold` from 100, 1,000 and 10,000 USDC. */
  readonly tiers?: TiersOptions;
  /** What wallets hold. Default: what all gates on this facilitator share, at most 15 s old. */
  readonly holdings?: Holdings;
  /** Address under which clients reach this server, for links. Default: from the request. */
  readonly baseUrl?: string;
  /** Name that a wallet shows when it is asked to pay. Default `Tollhouse`. */
  readonly label?: string;
  /** Address of a block explorer, without `/tx/…`. Default: one that knows the network. */
  readonly explorerUrl?: string;
}

/** The whole service as one router, for an app of your own: `app.use(createRouter({ facilitator }))`. */
export function createRouter({ facilitator, identity, tiers, holdings, ...links }: RouterOptions): Router {
  const router = Router();
  router.use(createServiceRouter(facilitator));
  router.use(createSettlementRouter({ facilitator, ...links }));
  router.use(createPaymentsRouter({ facilitator, ...links }));
  router.use(createTokenGateRouter({ facilitator, tiers, holdings }));
  if (identity !== undefined) router.use(createAuthRouter({ identity, baseUrl: links.baseUrl }));
  router.use(problemHandler);
  return router;
}
