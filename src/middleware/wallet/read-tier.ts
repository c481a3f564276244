import type { NextFunction, Request, Response } from 'express';
import { z } from 'zod';
import { readTiers, type Tier, type Tiers, type TiersOptions } from '../../access/tiers.js';
import { resolveOptions } from '../../lib/options.js';
import { isExpress } from '../gate/express-only.js';
import { answerFault, asMiddleware, type Middleware } from '../gate/gate.js';
import { type RequestNames, requestNamesOption, tell } from '../gate/request-properties.js';
import { refuseStranger } from './refuse-stranger.js';
import { readStanding } from './tier-gate.js';
import { inspectProof, isToken, offerSignIn, proofOf } from './wallet-auth.js';
import {
  enterPrivately,
  type WalletGateOptions,
  type WalletGateParts,
  walletGateOptions,
  walletGateParts,
} from './wallet-gate.js';

const WHERE = 'readTier';

/** Options of {@link readTier}. */
export interface ReadTierOptions extends WalletGateOptions {
  /** The tiers. Default: `bronze`, `silver` and `gold` from 100, 1,000 and 10,000 USDC. */
  readonly tiers?: TiersOptions;
  /**
   * `{ tier: 'membership', wallet: false }` tells the handler the tier on `req.membership`, and the wallet on no property of the
   * request; `tierOf(req)` and `walletOf(req)` answer them either way. Default: `req.tier` and `req.wallet`.
   */
  readonly requestNames?: RequestNames<'wallet' | 'tier'>;
}

const options = z.strictObject({
  ...walletGateOptions,
  requestNames: requestNamesOption('wallet', 'tier'),
  tiers: z.custom<TiersOptions>((it) => typeof it === 'object' && it !== null, 'the tiers').optional(),
});

/**
 * Express middleware that fills in `req.wallet` and `req.tier` for callers who prove a wallet, and lets everybody pass: for
 * what depends on the tier without requiring one, such as the price of a `requirePayment` behind it, whose 402 then tells how to
 * sign in. The tier is exact, over all of the wallet's token accounts. A proof that is no good is answered 401, and 503
 * when the chain cannot be asked: nobody pays a stranger's price because of a fault.
 * @throws TollhouseError `bad_option` now, not at the first request, when an option is wrong
 */
export function readTier(given: ReadTierOptions): Middleware {
  const resolved = resolveOptions(WHERE, options, given);
  const parts = { ...walletGateParts(resolved), requestNames: resolved.requestNames };
  const tiers = readTiers(WHERE, resolved.tiers, resolved.facilitator.tokens);
  return asMiddleware(function tollhouseTierReader(req, res, next) {
    if (!isExpress(WHERE, req, next)) return;
    if (req.method === 'OPTIONS') return next();
    read(tiers, parts, req, res, next).catch((error: unknown) => answerFault(res, next, error));
  });
}

/** What it works with. */
interface TierReaderParts extends WalletGateParts {
  readonly requestNames: { readonly wallet: string | false; readonly tier: string | false };
}

async function read(
  tiers: Tiers,
  parts: TierReaderParts,
  req: Request,
  res: Response,
  next: NextFunction,
): Promise<void> {
  const proof = await inspectProof(req, parts);
  if (proof.status === 'refused') return refuseStranger(WHERE, req, res, parts, proof).answer();
  if (proof.status === 'absent') {
    offerSignIn(req, parts);
    return next();
  }
  const { tier } = await readStanding(WHERE, proof.wallet.address, { tiers, upTo: highest(tiers) }, parts.holdings);
  const taken = isToken(proof) ? proof : await proofOf(req, parts);
  if (taken.status !== 'proven') return refuseStranger(WHERE, req, res, parts, taken).answer();
  tell(req, parts.requestNames, 'wallet', taken.wallet);
  if (tier !== undefined) tell(req, parts.requestNames, 'tier', tier);
  enterPrivately(res, next);
}

function highest({ levels }: Tiers): Tier {
  const tier = levels.at(-1);
  if (tier === undefined) throw new Error('tiers without levels');
  return tier;
}
