import type { Request } from 'express';
import { z } from 'zod';
import type { Lookups } from '../../access/holdings.js';
import { symbolIn, unitOf } from '../../access/mint.js';
import { minimumOf, readTiers, type Tier, type Tiers, type TiersOptions } from '../../access/tiers.js';
import { badOption } from '../../errors/errors.js';
import { didYouMean } from '../../lib/did-you-mean.js';
import { whenKnown } from '../../lib/maybe-promise.js';
import { resolveOptions } from '../../lib/options.js';
import type { MustHold } from '../../pages/texts/must-hold.js';
import { formatAmount } from '../../protocol/money/money.js';
import { clientAddress } from '../gate/client-address.js';
import type { Gate } from '../gate/gate.js';
import { type RequestNames, requestNamesOption } from '../gate/request-properties.js';
import { type AdmissionOptions, admissionOptions, ruleName, withAdmission } from './admission.js';
import { missingForTier, readStanding, type TierReading, tellTier } from './tier-gate.js';
import {
  PASSED,
  type RuleOfGate,
  type Verdict,
  type WalletGateOptions,
  walletGate,
  walletGateOptions,
  walletGateParts,
} from './wallet-gate.js';

const WHERE = 'requireTier';

/** Options of {@link requireTier}. */
export interface RequireTierOptions extends WalletGateOptions, AdmissionOptions {
  /** Id of the lowest tier that may pass. Default: the lowest of all, so that any tier does. */
  readonly tier?: string | undefined;
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
  ...admissionOptions,
  requestNames: requestNamesOption('wallet', 'tier'),
  tier: z.string('the id of a tier').optional(),
  tiers: z.custom<TiersOptions>((it) => typeof it === 'object' && it !== null, 'the tiers').optional(),
});

/**
 * Express middleware that lets in whose wallet has reached a membership tier. The caller proves the wallet as for
 * `requireTokenBalance`; the responses are the same, 403 naming the tier that is next. The wallet is on `req.wallet`, and on
 * `req.tier` the highest tier that was seen to be reached: at least the required one. Where it takes several token
 * accounts to reach a higher one, that is not looked for; `readTier` does. Can be given to `anyOf`.
 * @throws TollhouseError `bad_option` now, not at the first request, when an option is wrong
 */
export function requireTier(given: RequireTierOptions): Gate {
  const { parts, judge } = tierRule(WHERE, given);
  return walletGate(WHERE, parts, judge);
}

/**
 * Reads the options of {@link requireTier} for whoever asks a wallet for a tier.
 * @param where - the function that they were given to, for messages
 * @throws TollhouseError `bad_option` where one is wrong
 */
export function tierRule(where: string, given: unknown): RuleOfGate {
  const resolved = resolveOptions(where, options, given);
  const parts = walletGateParts(resolved);
  const tiers = readTiers(where, resolved.tiers, resolved.facilitator.tokens);
  const required = findTier(where, tiers, resolved.tier);
  const unit = unitOf(tiers.mint, resolved.facilitator.tokens);
  const read = (wallet: string, reader: Lookups, by: { readonly client?: string } = {}) =>
    readStanding(where, wallet, { tiers, upTo: required, ...by }, reader);
  const what = [tiers.mint, required.minBalance];
  const token = symbolIn(tiers.mint, resolved.facilitator.tokens) ?? tiers.mint;
  const mustHold = { amount: required.minBalance, token, tier: required.name };
  const admit = withAdmission(where, resolved, {
    what,
    judge: (req, wallet) =>
      whenKnown(read(wallet, parts.holdings, clientAddress(req)), (reading) => {
        const verdict = verdictOf(where, wallet, { tiers, required, reading, unit, mustHold });
        const note = reading.tier?.id;
        if (note === undefined) return verdict;
        return verdict.ok ? { ok: true, note } : { ...verdict, note };
      }),
    // Whoever comes has his balance remembered: a look by that would see what he shows.
    holds: (wallet) =>
      whenKnown(
        read(wallet, resolved.facilitator),
        (reading) => verdictOf(where, wallet, { tiers, required, reading, unit, mustHold }).ok,
      ),
  });
  const judge = {
    name: ruleName([WHERE, ...what]),
    mustHold,
    judge: admit,
    tell: (req: Request, id: string) => tellTier(req, resolved.requestNames, tiers, id),
  };
  return { parts, judge, inWords: `the tier "${required.id}"` };
}

interface TierCheck {
  readonly tiers: Tiers;
  readonly required: Tier;
  readonly reading: TierReading;
  /** What stands behind amounts, for people. */
  readonly unit: string;
  readonly mustHold: MustHold;
}

function verdictOf(where: string, wallet: string, check: TierCheck): Verdict {
  const { tiers, required, reading, unit, mustHold: needed } = check;
  if (reading.amount >= minimumOf(where, required, reading.decimals)) return PASSED;
  const missing = missingForTier(where, required, tiers, reading);
  const detail = `The wallet ${wallet} holds ${missing.balance}; the tier "${required.id}" begins at ${required.minBalance} ${unit}.`;
  const held = formatAmount(reading.amount, reading.decimals);
  return { ok: false, code: 'insufficient_tier', detail, missing, lack: { kind: 'amount', wallet, held, needed } };
}

function findTier(where: string, { levels }: Tiers, id: string | undefined): Tier {
  const tier = id === undefined ? levels[0] : levels.find((level) => level.id === id);
  if (tier !== undefined) return tier;
  const ids = levels.map((level) => level.id);
  const meant = didYouMean(id ?? '', ids);
  const hint = meant === undefined ? `the tiers are ${ids.join(', ')}` : `did you mean "${meant}"?`;
  throw badOption(where, `option "tier": there is no tier "${id}"; ${hint}`, 'tier');
}
