import type { NextFunction, Request, Response } from 'express';
import { z } from 'zod';
import { readTiers, type Tier, type Tiers, type TiersOptions } from '../../access/tiers.js';
import { defined } from '../../lib/defined.js';
import { resolveOptions } from '../../lib/options.js';
import { keepVarying } from '../gate/cache-control.js';
import { clientAddress } from '../gate/client-address.js';
import { isExpress } from '../gate/express-only.js';
import { answerFault, asMiddleware, type Middleware } from '../gate/gate.js';
import { type RequestNames, requestNamesOption, tell } from '../gate/request-properties.js';
import { withSignIns } from '../gate/sign-ins-wanted.js';
import { ruleName } from './admission.js';
import { type AdmittedWallet, admittedBefore, noteAdmitted } from './admitted-before.js';
import { keptSignIn } from './keep-sign-in.js';
import { refuseStranger } from './refuse-stranger.js';
import { readStanding, tellTier } from './tier-gate.js';
import { anyProof, isToken, offerSignIn, proofOf, type UnprovenProof } from './wallet-auth.js';
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
  readonly tiers?: TiersOptions | undefined;
  /**
   * `{ tier: 'membership', wallet: false }` tells the handler the tier on `req.membership`, and the wallet on no property of the
   * request; `tierOf(req)` and `walletOf(req)` answer them either way. Default: `req.tier` and `req.wallet`.
   */
  readonly requestNames?: RequestNames<'wallet' | 'tier'> | undefined;
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
  const tiers = readTiers(WHERE, resolved.tiers, resolved.facilitator.tokens);
  const name = ruleName([WHERE, tiers.mint, tiers.levels.map(({ id, minBalance }) => [id, minBalance])]);
  const parts = { ...walletGateParts(resolved), requestNames: resolved.requestNames, name };
  const reader = asMiddleware(function tollhouseTierReader(req, res, next) {
    if (!isExpress(WHERE, req, next)) return;
    if (req.method === 'OPTIONS') return next();
    read(tiers, parts, req, res, next).catch((error: unknown) => answerFault(res, next, error));
  });
  return withSignIns(reader, [parts]);
}

type Seen = Omit<AdmittedWallet, 'gate'>;

/** What it works with. */
interface TierReaderParts extends WalletGateParts {
  /** What it asks for, the same in every process. */
  readonly name: string;
  readonly requestNames: { readonly wallet: string | false; readonly tier: string | false };
}

async function read(
  tiers: Tiers,
  parts: TierReaderParts,
  req: Request,
  res: Response,
  next: NextFunction,
): Promise<void> {
  const kept = await keptSignIn(req, res, parts);
  if (kept?.admitted) return kept.enter(next);
  const now = await seenNow(tiers, parts, req);
  const seen = 'wallet' in now ? now : ((await admittedBefore(req, parts, parts.name)) ?? now);
  if ('wallet' in seen) {
    const { wallet, note } = seen;
    tell(req, parts.requestNames, 'wallet', () => wallet);
    if (note !== undefined) tellTier(req, parts.requestNames, tiers, note);
    noteAdmitted(req, parts, { gate: parts.name, wallet, ...defined({ note }) });
    return enterPrivately(res, next);
  }
  if (seen.status === 'refused') return refuseStranger(WHERE, req, res, parts, seen).answer();
  offerSignIn(req, parts);
  keepVarying(res);
  next();
}

/** The wallet that a request proves, with the id of its tier; or what is wrong with its proof, or that it has none. */
async function seenNow(tiers: Tiers, parts: TierReaderParts, req: Request): Promise<Seen | UnprovenProof> {
  const proof = await anyProof(req, parts);
  if (proof.status !== 'proven') return proof;
  const wanted = { tiers, upTo: highest(tiers), from: tiers.levels[0], ...clientAddress(req) };
  const { tier } = await readStanding(WHERE, proof.wallet.address, wanted, parts.holdings);
  const taken = isToken(proof) ? proof : await proofOf(req, parts);
  return taken.status === 'proven' ? { wallet: taken.wallet, ...defined({ note: tier?.id }) } : taken;
}

function highest({ levels }: Tiers): Tier {
  const tier = levels.at(-1);
  if (tier === undefined) throw new Error('tiers without levels');
  return tier;
}
