import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { createServiceKeys } from '../../../src/identity/service-keys/service-keys.js';
import { serviceKeyAuth } from '../../../src/middleware/service-key/service-key-auth.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { addressOf } from '../../../src/protocol/address.js';
import { SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { keyHeaders } from '../../helpers/fixtures/keys-fixture.js';
import { serveApp } from '../../helpers/http/app-server.js';
import { accessTokenFor } from '../../helpers/http/sign-in.js';
import { walletKeyOf } from '../../helpers/transactions/wallet-key.js';
import type { ContestantParts } from '../contestant.js';

/** How the gates are set up; keys are base58. */
export interface GateKeeperSettings {
  readonly rpcUrl: string;
  readonly keypair: string;
  /** Seed of a wallet with USDC, in hexadecimal. */
  readonly seed: string;
  /** Mint that it has a whole token of. */
  readonly held: string;
}

/** More than a bench can send. */
const NO_LIMIT = 1_000_000;
/** A large collection; the wallet holds none of these. */
const COLLECTION = Array.from({ length: 99_999 }, (_, index) =>
  addressOf(createHash('sha256').update(`nft ${index}`).digest()),
);
const handler: RequestHandler = (_req, res) => void res.json({ members: 'only', rows: [1, 2, 3, 4, 5] });

/** One Express app with the same response behind each gate, and behind none. */
export async function start({ rpcUrl, keypair, seed, held }: GateKeeperSettings): Promise<ContestantParts> {
  const network = 'solana-devnet';
  const facilitator = createFacilitator({ network, rpcUrl, keypair, tokens: SANDBOX_TOKENS });
  const { gateway } = await openStorage('memory:');
  const counters = createMemoryCounters();
  const identity = createIdentity({ network, jwtSecret: SECRET, counters });
  const keys = createServiceKeys({
    store: gateway.keys,
    counters,
    tokens: SANDBOX_TOKENS,
    mode: 'test',
    scale: NO_LIMIT,
  });
  const wallet = walletKeyOf(Buffer.from(seed, 'hex'));
  const key = await keys.generate(wallet.address, { name: 'bench' });
  const server = await serveApp((app) => {
    app.get('/bare', handler);
    app.get('/balance', requireTokenBalance({ facilitator, identity, mint: 'USDC', minBalance: 100 }), handler);
    app.get('/collection', requireTokenBalance({ facilitator, identity, collection: [...COLLECTION, held] }), handler);
    app.get('/tier', requireTier({ facilitator, identity, tier: 'silver' }), handler);
    app.get('/key', serviceKeyAuth({ gateway: { keys } }), handler);
  });
  return {
    ...server,
    asks: { token: () => accessTokenFor(wallet, identity, server.url), key: () => keyHeaders(key) },
  };
}
