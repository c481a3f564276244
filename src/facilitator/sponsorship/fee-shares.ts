import { LRUCache } from 'lru-cache';
import type { Counters } from '../../storage/counters/counters.js';
import { createHourlyAllowance, type HourlyAllowance } from './hourly-allowance.js';

/** For whom a network fee is paid. Whoever is named uses a share of his own. */
export interface FeeParties {
  /** The wallet that pays, base58. */
  readonly payer?: string;
  /** Whoever sells through the service: owner of a project, or a wallet that is paid. Not the operator's own routes. */
  readonly seller?: string;
  /** Whether a server elsewhere had it settled, which anybody may. */
  readonly isPublic?: boolean;
}

/** Bounds what each party may use of the fees of an hour, so that nobody uses them up for the others. */
export interface FeeShares {
  /** The shares that a fee counts for. */
  of(parties: FeeParties): readonly FeeShare[];
}

/** The share of one party. */
export interface FeeShare extends HourlyAllowance {
  readonly party: keyof FeeParties;
}

/** What shares are made of. */
export interface FeeSharesParts {
  /** Tells the counts of one network from those of another. */
  readonly network: string;
  /** Most for an hour for everybody together, in lamports. */
  readonly maxFeeLamportsPerHour: bigint;
  readonly counters: Pick<Counters, 'increment'>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** Nobody uses more than one part in so many. */
const PARTIES = 5n;
/** What is forgotten of the least recent ones is counted once more, in their share only. */
const MAX_SHARES = 10_000;

/** Makes the shares. A share that is less than one fee lets one fee pass in an hour. */
export function createFeeShares({ network, maxFeeLamportsPerHour, counters, now }: FeeSharesParts): FeeShares {
  const limit = Number(maxFeeLamportsPerHour / PARTIES);
  const shares = new LRUCache<string, FeeShare>({ max: MAX_SHARES });

  function share(party: keyof FeeParties, name: string): FeeShare {
    const key = `fee-share:${network}:${party}:${name}`;
    const found = shares.get(key);
    if (found !== undefined) return found;
    const made = { party, ...createHourlyAllowance({ key, limit, allowsOne: true, counters, now }) };
    shares.set(key, made);
    return made;
  }

  return {
    of: ({ payer, seller, isPublic = false }) => [
      ...(payer === undefined ? [] : [share('payer', payer)]),
      ...(seller === undefined ? [] : [share('seller', seller)]),
      ...(isPublic ? [share('isPublic', 'settle')] : []),
    ],
  };
}
