import { type Request, type Response, Router } from 'express';
import { z } from 'zod';
import { decimalsOf, readMinimum, wireNumber } from '../../access/balance.js';
import { type Holdings, holdingsOf } from '../../access/holdings.js';
import { readMintName } from '../../access/mint.js';
import { readTiers, standingOf, type Tier, type Tiers, type TiersOptions } from '../../access/tiers.js';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import type { Facilitator } from '../../facilitator/types.js';
import { wireTier } from '../../middleware/wallet/tier-gate.js';
import { isAddress } from '../../protocol/address.js';
import { parseDecimal } from '../../protocol/money/money.js';
import { handled } from '../framework/handled.js';
import { jsonBody } from '../framework/json-body.js';
import { problemHandler } from '../framework/problem-handler.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';

/** Options of {@link createTokenGateRouter}. */
export interface TokenGateRouterOptions {
  readonly facilitator: Facilitator;
  /** The tiers. Default: `bronze`, `silver` and `gold` from 100, 1,000 and 10,000 USDC. */
  readonly tiers?: TiersOptions | undefined;
  /** What wallets hold. Default: what all gates on this facilitator share, at most 15 s old. */
  readonly holdings?: Holdings | undefined;
}

const WHERE = 'createTokenGateRouter';
const BODY_LIMIT = '100kb';

const wallet = z.string('must be a text').refine(isAddress, 'must be a wallet address (base58, case counts)');

/** Body of `POST /token-gate/check-access`. Whether the token exists and how it is divided, the chain says. */
export const checkAccessBody = z.object(
  {
    wallet,
    token: z.string('must be the address of a mint (base58)').min(1, 'must not be empty').max(64, 'is too long'),
    min_balance: z.union([z.number(), z.string().max(64, 'is too long')], 'must be a number, or its decimal text'),
  },
  'must be a JSON object',
);

/** Query of `GET /token-gate/get-tier`. */
export const getTierQuery = z.object({ wallet });

/** Codes of faults in the fields. */
const CODES = {
  code: 'invalid_request',
  fields: { '/wallet': 'invalid_wallet', '/token': 'invalid_token', '/min_balance': 'invalid_amount' },
} as const;

interface Parts {
  readonly facilitator: Facilitator;
  readonly holdings: Holdings;
  readonly tiers: Tiers;
}

/**
 * The token gate's endpoints (interface-specification.md; service.md §2): they report what a wallet holds and what that
 * would open. A wallet that is named here has proven nothing: access is given by `requireTokenBalance` and `requireTier`.
 * @throws TollhouseError `bad_option` when the tiers are wrong
 */
export function createTokenGateRouter({ facilitator, tiers, holdings }: TokenGateRouterOptions): Router {
  const parts: Parts = {
    facilitator,
    holdings: holdings ?? holdingsOf(facilitator),
    tiers: readTiers(WHERE, tiers, facilitator.tokens),
  };
  const router = Router();
  router
    .route('/token-gate/check-access')
    .post(
      ...jsonBody(BODY_LIMIT),
      handled((req, res) => answerCheckAccess(parts, req, res)),
    )
    .all(refuseOtherMethods('POST'));
  router
    .route('/token-gate/get-tier')
    .get(handled((req, res) => answerGetTier(parts, req, res)))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router
    .route('/token-gate/tiers')
    .get((_req, res) => void res.json({ tiers: parts.tiers.levels.map(wireTier), mint: parts.tiers.mint }))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router
    .route('/token-gate/accepted-tokens')
    .get((_req, res) => void res.json({ tokens: acceptedTokens(facilitator) }))
    .all(refuseOtherMethods('GET', 'HEAD'));
  router.use(problemHandler);
  return router;
}

async function answerCheckAccess({ facilitator, holdings }: Parts, req: Request, res: Response): Promise<void> {
  const { wallet, token, min_balance: asked } = readBody(checkAccessBody, req.body, CODES);
  const minimum = readMinimum(asked);
  if (!minimum.ok) throw fieldError('invalid_amount', '/min_balance', minimum.detail);
  const mint = readMintName(token, facilitator.tokens);
  if (!mint.ok) throw fieldError('invalid_token', '/token', `it must be ${mint.detail}`);
  const facts = await holdings.readMint(mint.value);
  if (facts === undefined) {
    throw fieldError('invalid_token', '/token', `there is no mint at ${mint.value} on ${facilitator.network}`);
  }
  const least = parseDecimal(minimum.value.text, facts.decimals);
  if (!least.ok) throw fieldError('invalid_amount', '/min_balance', least.detail);
  const { amount } = await holdings.readHolding({ wallet, mints: [mint.value] });
  res.setHeader('Cache-Control', 'no-store');
  res.json({
    has_access: amount >= least.value,
    balance: wireNumber(amount, facts.decimals),
    min_balance: Number(minimum.value.text),
    wallet,
    token: mint.value,
    balance_atomic: String(amount),
    decimals: facts.decimals,
  });
}

async function answerGetTier({ holdings, tiers }: Parts, req: Request, res: Response): Promise<void> {
  const { wallet } = readBody(getTierQuery, req.query, CODES);
  const decimals = await decimalsOf(WHERE, tiers.mint, holdings);
  const { amount } = await holdings.readHolding({ wallet, mints: [tiers.mint] });
  const { tier, next, missing } = standingOf(WHERE, tiers, amount, decimals);
  res.setHeader('Cache-Control', 'no-store');
  res.json({
    wallet,
    tier: tierOrNull(tier),
    balance: wireNumber(amount, decimals),
    next_tier: tierOrNull(next),
    missing: wireNumber(missing, decimals),
    token: tiers.mint,
  });
}

function acceptedTokens({ tokens, network }: Facilitator) {
  return tokens.map(({ symbol, mint, decimals, program }) => ({ symbol, mint, decimals, network, program }));
}

function tierOrNull(tier: Tier | undefined) {
  return tier === undefined ? null : wireTier(tier);
}

function fieldError(code: ErrorCode, pointer: string, detail: string): TollhouseError {
  const errors = [{ pointer, code, detail }];
  return new TollhouseError(code, `The request is not valid. ${pointer}: ${detail}.`, { errors });
}
