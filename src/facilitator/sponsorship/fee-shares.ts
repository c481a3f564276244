import { boundedCache } from '../../lib/bounded-cache.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import type { Counters } from '../../storage/counters/counters.js';
import type { OwnerStore } from '../../storage/owners/owners.js';
import { DEFAULT_FEE_PERCENT } from '../../storage/owners/quotas.js';
import { createHourlyAllowance, type HourlyAllowance } from './hourly-allowance.js';

/** For whom a network fee is paid. Whoever is named uses a share of his own. */
export interface FeeParties {
  /** The wallet that pays, base58. */
  readonly payer?: string;
  /** Whoever sells through the service: owner of a project, or a wallet that is paid. Not the operator's own routes. */
  readonly seller?: string;
  /** Whether a server elsewhere had it settled, which anybody may. */
  readonly isPublic?: boolean;
  /** Whether the request decides who is paid: it may be the payer himself. */
  readonly paysAnybody?: boolean;
}

/**
 * Bounds what each party may use of the fees of an hour, so that nobody uses them up for the others. Sellers are anybody, and one may be
 * many, so all of them, the public, and routes that let a request
 * decide who is paid, have one more share together, which leaves the operator's own routes a reserve.
 */
export interface FeeShares {
  /** The shares that a fee counts for. */
  of(parties: FeeParties): MaybePromise<readonly FeeShare[]>;
}

/** The share of one party. */
export interface FeeShare extends HourlyAllowance {
  /** `others`: all for whom the operator pays who are not the operator, together. */
  readonly party: Exclude<keyof FeeParties, 'paysAnybody'> | 'others';
}

/** What shares are made of. */
export interface FeeSharesParts {
  /** Tells the counts of one network from those of another. */
  readonly network: string;
  /** Most for an hour for everybody together, in lamports. */
  readonly maxFeeLamportsPerHour: bigint;
  readonly counters: Pick<Counters, 'increment'> | undefined;
  /** Where operators say how large the share of a seller is. Default: it is as large as anybody's. */
  readonly owners?: Pick<OwnerStore, 'quotasOf'> | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** What all sellers and the public use of the hour at most, in percent. */
const OTHERS_PERCENT = 60;
/** What is forgotten of the least recent ones is counted once more, in their share only. */
const MAX_SHARES = 10_000;
/** How long the word of an operator is remembered. */
const FRESH_MS = 10_000;

/** Makes the shares. A share that is less than one fee lets one fee pass in an hour. */
export function createFeeShares(parts: FeeSharesParts): FeeShares {
  const { network, maxFeeLamportsPerHour, counters, owners, now } = parts;
  const shares = boundedCache<string, FeeShare>({ max: MAX_SHARES });
  // Never among those that can be forgotten: most that is paid for others counts in it.
  const others = newShare('others', keyOf('others', 'all', OTHERS_PERCENT), OTHERS_PERCENT);
  const percents = boundedCache<string, { readonly percent: number; readonly readAt: number }>({ max: MAX_SHARES });

  /** An outage of the store changes nobody's share. */
  function percentOf(seller: string): MaybePromise<number> {
    if (owners === undefined) return DEFAULT_FEE_PERCENT;
    const known = percents.get(seller);
    if (known !== undefined && now() - known.readAt < FRESH_MS) return known.percent;
    return owners.quotasOf(seller).then(
      ({ feePercent = DEFAULT_FEE_PERCENT }) => {
        percents.set(seller, { percent: feePercent, readAt: now() });
        return feePercent;
      },
      () => known?.percent ?? DEFAULT_FEE_PERCENT,
    );
  }

  function keyOf(party: FeeShare['party'], name: string, percent: number): string {
    // One that is changed counts from nothing: an hour that was used up is open again at once.
    const size = percent === DEFAULT_FEE_PERCENT ? '' : `:${percent}`;
    return `fee-share:${network}:${party}:${name}${size}`;
  }

  function newShare(party: FeeShare['party'], key: string, percent: number): FeeShare {
    const limit = Number((maxFeeLamportsPerHour * BigInt(percent)) / 100n);
    return Object.assign(createHourlyAllowance({ key, limit, allowsOne: true, counters, now }), { party });
  }

  function share(party: FeeShare['party'], name: string, percent = DEFAULT_FEE_PERCENT): FeeShare {
    const key = keyOf(party, name, percent);
    const found = shares.get(key);
    if (found !== undefined) return found;
    const made = newShare(party, key, percent);
    shares.set(key, made);
    return made;
  }

  return {
    of({ payer, seller, isPublic = false, paysAnybody = false }) {
      const all: FeeShare[] = [];
      if (payer !== undefined) all.push(share('payer', payer));
      if (isPublic) all.push(share('isPublic', 'settle'));
      // The last to be asked: who has used up a share of his own is told that.
      if (seller === undefined) return isPublic || paysAnybody ? [...all, others] : all;
      return whenKnown(percentOf(seller), (percent) => {
        all.push(share('seller', seller, percent));
        // An operator who gives one seller more than all have together means it: that is beside their share.
        return percent > OTHERS_PERCENT ? all : [...all, others];
      });
    },
  };
}
