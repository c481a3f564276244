import { ADDRESS_SHARE, type AddressShares, createAddressShares } from '../lib/work/address-shares.js';

/** Bounds of {@link createLookPlaces}. */
export interface LookPlacesOptions {
  /** Looks a second in the long run. */
  readonly perSecond: number;
  /** For so long a look counts, and for as long as it takes, in milliseconds: so many as belong to it may come at once. */
  readonly windowMs: number;
  /** How many may be under way at once. Default: as many as come. */
  readonly mostAtOnce?: number;
  /** Clock in milliseconds, never going back. */
  readonly now: () => number;
}

/** Places for looks at the chain, of which an address and the networks around it have shares, see `AddressShares`. */
export interface LookPlaces {
  /**
   * Takes a place, and returns how to say that the look is over; undefined where there is none.
   * @param client - what names the address. Default: not known, and no address has a share
   */
  enter(client: string | undefined): (() => void) | undefined;
}

const SECOND_MS = 1_000;

/** Makes places that are taken for a time at least, so that there are as many in it as there are looks. */
export function createLookPlaces({ perSecond, windowMs, mostAtOnce, now }: LookPlacesOptions): LookPlaces {
  const countsMs = Math.max(windowMs, SECOND_MS / perSecond);
  const inTime = createPlaces(Math.max(1, Math.round((perSecond * countsMs) / SECOND_MS)));
  const atOnce = createPlaces(mostAtOnce ?? Number.MAX_SAFE_INTEGER);
  /** Looks that count by their time, the oldest first. */
  const recent: { readonly until: number; leave(): void }[] = [];

  function forgetPast(): void {
    for (let [it] = recent; it !== undefined && it.until <= now(); [it] = recent) {
      it.leave();
      recent.shift();
    }
  }

  return {
    enter(client) {
      forgetPast();
      const networks = inTime.shares.networksOf(client);
      if (inTime.isFull(networks) || atOnce.isFull(networks)) return undefined;
      for (const places of [inTime, atOnce]) places.count(networks, 1);
      // The look and its time.
      let left = 2;
      const leave = () => {
        left -= 1;
        if (left === 0) inTime.count(networks, -1);
      };
      recent.push({ until: now() + countsMs, leave });
      return () => {
        atOnce.count(networks, -1);
        leave();
      };
    },
  };
}

interface Places {
  readonly shares: Pick<AddressShares, 'networksOf'>;
  isFull(networks: readonly string[]): boolean;
  count(networks: readonly string[], by: 1 | -1): void;
}

function createPlaces(most: number): Places {
  let taken = 0;
  const shares = createAddressShares({ share: ADDRESS_SHARE, places: () => most, taken: () => taken });
  return {
    shares,
    isFull: (networks) => taken >= most || shares.isFull(networks),
    count(networks, by) {
      taken += by;
      shares.count(networks, by);
    },
  };
}
