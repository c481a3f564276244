import type { RequestHandler } from 'express';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { createRateLimits } from '../../../src/middleware/rate-limit/rate-limit.js';
import { serviceKeyAuth } from '../../../src/middleware/service-key/service-key-auth.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { serveApp } from '../../helpers/http/app-server.js';
import type { ContestantParts } from '../contestant.js';

interface Settings {
  readonly rpcUrl: string;
  /** Base58. */
  readonly keypair: string;
  readonly databaseUrl: string;
}

const handler: RequestHandler = (_req, res) => void res.json({ members: 'only', rows: [1, 2, 3, 4, 5] });

/** Somebody's site for holders: the whole service with sign-in and keys, its limits by default, and gates behind the same limits. */
export async function start({ rpcUrl, keypair, databaseUrl }: Settings): Promise<ContestantParts> {
  const storage = await openStorage(databaseUrl);
  const facilitator = createFacilitator({
    network: 'solana-devnet',
    rpcUrl,
    keypair,
    tokens: SANDBOX_TOKENS,
    storage,
  });
  const gateway = createGateway({ facilitator, owners: 'open' });
  const identity = createIdentity({ facilitator, jwtSecret: SECRET });
  const { counters } = storage;
  const { challenges } = createRateLimits({ counters, gateway, identity });
  return serveApp((app) => {
    app.use(createRouter({ facilitator, gateway, identity, counters }));
    app.use('/club', ...challenges);
    app.get('/club/balance', requireTokenBalance({ facilitator, identity, mint: 'USDC', minBalance: 100 }), handler);
    app.get('/club/tier', requireTier({ facilitator, identity, tier: 'silver' }), handler);
    app.get('/club/key', serviceKeyAuth({ gateway }), handler);
  });
}
