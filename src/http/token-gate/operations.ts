import type { Request } from 'express';
import { decimalsOf, readMinimum, wireNumber } from '../../access/balance.js';
import { type Holdings, holdingsOf, type Lookups } from '../../access/holdings.js';
import { readMintName } from '../../access/mint.js';
import { readTiers, standingOf, type Tiers, type TiersOptions } from '../../access/tiers.js';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import type { Networks } from '../../facilitator/networks/networks.js';
import type { Facilitator } from '../../facilitator/types.js';
import { clientAddress } from '../../middleware/gate/client-address.js';
import { wireTier } from '../../middleware/wallet/tier-gate.js';
import { parseDecimal } from '../../protocol/money/money.js';
import { networkQuery } from '../framework/fields.js';
import { defineOperation } from '../framework/operation.js';
import {
  accessResponse,
  checkAccessBody,
  getTierQuery,
  tiersResponse,
  tokensResponse,
  walletTierResponse,
} from './schemas.js';

/** What {@link tokenGateParts} makes the parts of. */
export interface TokenGateOptions {
  readonly networks: Networks;
  /** The tiers. Default: `bronze`, `silver` and `gold` from 100, 1,000 and 10,000 USDC. */
  readonly tiers?: TiersOptions | undefined;
  /** What wallets hold on the first network. Default: what all gates on this facilitator share, at most 15 s old. */
  readonly holdings?: Holdings | undefined;
}

/** What {@link TOKEN_GATE_OPERATIONS} work with; made by {@link tokenGateParts}. */
export interface TokenGateParts {
  /**
   * What is asked about a network; the first by default.
   * @param asker - whose address has its share of looks. Default: not known
   */
  on(network: string | undefined, asker?: Request): NetworkGate;
  readonly networks: Networks;
}

/** What wallets hold on one network, and reach with it. */
interface NetworkGate {
  readonly facilitator: Facilitator;
  /** Within the bounds for what anybody may ask. */
  readonly holdings: Lookups;
  /** Undefined where the token that decides is not on it. */
  readonly tiers: Tiers | undefined;
}

const WHERE = 'createRouter';
const TAG = 'Token gate';
/** Errors of a look at the chain that anybody may ask for. */
const LOOK_ERRORS = ['wallet_too_large', 'rate_limited', 'chain_unavailable'] as const;
/** Codes of faults in the fields. */
const FAULTS = {
  code: 'invalid_request',
  fields: { '/wallet': 'invalid_wallet', '/token': 'invalid_token', '/min_balance': 'invalid_amount' },
} as const;

/**
 * Makes what the token gate's operations work with.
 * @throws TollhouseError `bad_option` when the tiers are wrong
 */
export function tokenGateParts({ networks, tiers, holdings }: TokenGateOptions): TokenGateParts {
  const gates = new Map(
    networks.all.map((it) => {
      const isFirst = it === networks.first;
      const held = (isFirst && holdings) || holdingsOf(it);
      // A mint is on one network, a symbol may be on each.
      const isThere = isFirst || tiers === undefined || isKnownOn(it, String(tiers.mint));
      const gate = { facilitator: it, holdings: held.forAnybody };
      return [it, { ...gate, tiers: isThere ? readTiers(WHERE, tiers, it.tokens) : undefined }] as const;
    }),
  );
  return {
    networks,
    on(network, asker) {
      const gate = gates.get(networks.named(network));
      if (gate === undefined) throw new Error('unreachable: each network has one');
      const { client } = asker === undefined ? {} : clientAddress(asker);
      return client === undefined ? gate : { ...gate, holdings: askedFrom(client, gate.holdings) };
    },
  };
}

function askedFrom(client: string, { readMint, readHolding }: Lookups): Lookups {
  return {
    readMint: (mint) => readMint(mint, client),
    readHolding: (query) => readHolding({ ...query, client }),
  };
}

function isKnownOn({ tokens }: Facilitator, name: string): boolean {
  return tokens.some(({ symbol, mint }) => mint === name || symbol === name.toUpperCase());
}

function tiersOn({ tiers, facilitator }: NetworkGate): Tiers {
  if (tiers !== undefined) return tiers;
  const detail = `There are no tiers on ${facilitator.network}: the token that decides is on another network.`;
  throw new TollhouseError('invalid_request', detail, { param: 'network' });
}

const checkAccess = defineOperation({
  method: 'post',
  path: '/token-gate/check-access',
  listed: { under: 'token_gateway', place: 1 },
  id: 'checkAccess',
  tag: TAG,
  summary: 'Whether a wallet holds enough of a token',
  description: 'A report. A wallet that is named here has proven nothing.',
  noStore: true,
  body: checkAccessBody,
  faults: FAULTS,
  responses: { 200: { description: 'The balance, and whether it is enough.', schema: accessResponse } },
  errors: ['invalid_wallet', 'invalid_token', 'invalid_amount', ...LOOK_ERRORS],
  async handler({ req, body: { wallet, token, min_balance: asked, network } }, { on }: TokenGateParts) {
    const { facilitator, holdings } = on(network, req);
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
    return {
      has_access: amount >= least.value,
      balance: wireNumber(amount, facts.decimals),
      min_balance: Number(minimum.value.text),
      wallet,
      token: mint.value,
      balance_atomic: String(amount),
      decimals: facts.decimals,
    };
  },
});

const getTier = defineOperation({
  method: 'get',
  path: '/token-gate/get-tier',
  listed: { under: 'token_gateway', place: 2 },
  id: 'getTier',
  tag: TAG,
  summary: 'The tier that a wallet reaches',
  noStore: true,
  query: getTierQuery,
  faults: FAULTS,
  responses: { 200: { description: 'The tier, and what is missing for the next.', schema: walletTierResponse } },
  errors: ['invalid_wallet', ...LOOK_ERRORS],
  async handler({ req, query: { wallet, network } }, { on }: TokenGateParts) {
    const gate = on(network, req);
    const { holdings } = gate;
    const tiers = tiersOn(gate);
    const decimals = await decimalsOf(WHERE, tiers.mint, holdings);
    const { amount } = await holdings.readHolding({ wallet, mints: [tiers.mint] });
    const { tier, next, missing } = standingOf(WHERE, tiers, amount, decimals);
    return {
      wallet,
      tier: tier === undefined ? null : wireTier(tier),
      balance: wireNumber(amount, decimals),
      next_tier: next === undefined ? null : wireTier(next),
      missing: wireNumber(missing, decimals),
      token: tiers.mint,
    };
  },
});

const listTiers = defineOperation({
  method: 'get',
  path: '/token-gate/tiers',
  listed: { under: 'token_gateway', place: 4 },
  id: 'listTiers',
  tag: TAG,
  summary: 'All tiers, from the lowest to the highest',
  query: networkQuery,
  faults: FAULTS,
  responses: { 200: { description: 'The tiers, and the token that decides.', schema: tiersResponse } },
  async handler({ query: { network } }, { on }: TokenGateParts) {
    const tiers = tiersOn(on(network));
    return { tiers: tiers.levels.map(wireTier), mint: tiers.mint };
  },
});

const listTokens = defineOperation({
  method: 'get',
  path: '/token-gate/accepted-tokens',
  listed: { under: 'token_gateway', place: 3 },
  id: 'listTokens',
  tag: TAG,
  summary: 'Tokens that are known by symbol',
  responses: { 200: { description: 'The tokens.', schema: tokensResponse } },
  query: networkQuery,
  faults: FAULTS,
  handler: async ({ query: { network: named } }, { networks }: TokenGateParts) => ({
    tokens: (named === undefined ? networks.all : [networks.named(named)]).flatMap(({ tokens, network }) =>
      tokens.map(({ symbol, mint, decimals, program }) => ({ symbol, mint, decimals, network, program })),
    ),
  }),
});

/**
 * The token gate: what a wallet holds and what that would open. A wallet that is
 * named here has proven nothing: access is given by `requireTokenBalance` and `requireTier`.
 */
export const TOKEN_GATE_OPERATIONS = [checkAccess, getTier, listTiers, listTokens];

function fieldError(code: ErrorCode, pointer: string, detail: string): TollhouseError {
  const errors = [{ pointer, code, detail }];
  return new TollhouseError(code, `The request is not valid. ${pointer}: ${detail}.`, { errors });
}
