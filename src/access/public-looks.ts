import { TollhouseError } from '../errors/errors.js';

/** Does a look at the chain for somebody, or refuses at once by throwing. */
export type LookFor = <T>(look: () => Promise<T>) => Promise<T>;

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
const BURST_SECONDS = 2;

/**
 * The looks that anybody may ask for, about any wallet: few, since calls to the chain are rationed and belong to the gates. What is
 * too much is refused with `rate_limited`.
 */
export function createPublicLooks({ perSecond, now }: PublicLooksOptions): LookFor {
  const most = Math.max(1, perSecond * BURST_SECONDS);
  let left = most;
  let filledAt = now();
  let underWay = 0;

  return async (look) => {
    const time = now();
    left = Math.min(most, left + ((time - filledAt) / 1_000) * perSecond);
    filledAt = time;
    if (left < 1 || underWay >= MOST_AT_ONCE) throw tooMany(perSecond);
    left -= 1;
    underWay += 1;
    try {
      return await look();
    } finally {
      underWay -= 1;
    }
  };
}

function tooMany(perSecond: number): TollhouseError {
  const detail = `Anybody may ask about any wallet, ${perSecond} times a second all together; ask again in a moment.`;
  return new TollhouseError('rate_limited', detail, { retryAfterSeconds: Math.max(1, Math.ceil(1 / perSecond)) });
}
