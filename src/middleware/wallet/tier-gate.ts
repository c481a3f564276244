import type { Request } from 'express';
import { decimalsOf, wireNumber } from '../../access/balance.js';
import type { Lookups } from '../../access/holdings.js';
import { minimumOf, type Standing, standingOf, type Tier, type Tiers } from '../../access/tiers.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { tell } from '../gate/request-properties.js';

/** Where a wallet stands, and what it was found to hold. */
export interface TierReading extends Standing {
  /** Atomic units; when a tier was asked for and reached, the wallet may hold more. */
  readonly amount: bigint;
  readonly decimals: number;
}

/** What is to be known of a wallet. */
interface StandingWanted {
  readonly tiers: Tiers;
  readonly upTo: Tier;
  readonly from?: Tier | undefined;
  readonly client?: string | undefined;
}

/**
 * Reads where a wallet stands.
 * @param upTo - the tier that is enough to know of
 * @param from - the tier from which on a wallet is no stranger; `upTo` where there is none
 * @param client - what names the address of whoever comes with the wallet; nothing where nobody does
 * @throws TollhouseError `bad_option` when the mint does not exist, `chain_unavailable`
 */
export function readStanding(
  where: string,
  wallet: string,
  { tiers, upTo, from = upTo, client }: StandingWanted,
  reader: Lookups,
): MaybePromise<TierReading> {
  return whenKnown(decimalsOf(where, tiers.mint, reader), (decimals) => {
    const atLeast = minimumOf(where, upTo, decimals);
    const countsFrom = minimumOf(where, from, decimals);
    return whenKnown(reader.readHolding({ wallet, mints: [tiers.mint], atLeast, countsFrom, client }), ({ amount }) => {
      const standing = standingOf(where, tiers, amount, decimals);
      return { tier: standing.tier, next: standing.next, missing: standing.missing, amount, decimals };
    });
  });
}

/** Tells the handlers the tier with an id; nothing where there is none any more. */
export function tellTier(req: Request, names: { readonly tier: string | false }, { levels }: Tiers, id: string): void {
  const tier = levels.find((level) => level.id === id);
  if (tier !== undefined) tell(req, names, 'tier', () => tier);
}

/** A tier as it goes over the wire. */
export function wireTier({ id, name, minBalance, features }: Tier) {
  return { id, name, min_balance: Number(minBalance), features };
}

/** What is missing for a tier, as members of a problem. */
export function missingForTier(
  where: string,
  required: Tier,
  { mint }: Tiers,
  { tier, next, amount, decimals }: TierReading,
) {
  return {
    mint,
    balance: wireNumber(amount, decimals),
    min_balance: Number(required.minBalance),
    missing: wireNumber(minimumOf(where, required, decimals) - amount, decimals),
    tier: tier === undefined ? null : wireTier(tier),
    next_tier: next === undefined ? null : wireTier(next),
    required_tier: wireTier(required),
  };
}
