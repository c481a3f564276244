import { TollhouseError } from '../errors/errors.js';
import { createLookPlaces } from './look-places.js';

/**
 * Does a look at the chain for somebody, or refuses at once by throwing.
 * @param client - what names the address. Default: not known, and no address has a share
 */
export type LookFor = <T>(look: () => Promise<T>, client?: string) => Promise<T>;

/** Bounds of {@link createPublicLooks}. */
export interface PublicLooksOptions {
  /** Looks a second in the long run; twice as many may come at once. */
  readonly perSecond: number;
  /** Clock in milliseconds, never going back. */
  readonly now: () => number;
}

/** Looks a second, unless an option says otherwise. */
export const PUBLIC_LOOKS_PER_SECOND = 10;
/** So many may be under way at once: while the nodes are slow, strangers must not take all connections. */
const MOST_AT_ONCE = 8;
/** For so long a look counts, and for as long as it takes. */
const WINDOW_MS = 2_000;

/**
 * The looks that anybody may ask for, about any wallet: few, since calls to the chain are rationed and belong to the gates. What is
 * too much is refused with `rate_limited`. An address and the networks around it have shares of them.
 */
export function createPublicLooks({ perSecond, now }: PublicLooksOptions): LookFor {
  const places = createLookPlaces({ perSecond, windowMs: WINDOW_MS, mostAtOnce: MOST_AT_ONCE, now });

  return async (look, client) => {
    const leave = places.enter(client);
    if (leave === undefined) throw tooMany(perSecond);
    try {
      return await look();
    } finally {
      leave();
    }
  };
}

function tooMany(perSecond: number): TollhouseError {
  const detail = `Anybody may ask about any wallet, ${perSecond} times a second all together, of one address some half of that; ask again in a moment.`;
  return new TollhouseError('rate_limited', detail, {
    retryAfterSeconds: Math.max(WINDOW_MS / 1_000, Math.ceil(1 / perSecond)),
  });
}
