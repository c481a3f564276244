import { boundedCache } from '../../lib/bounded-cache.js';

/** How often a client may try in a second; what was right is given back. Kept in this process, so that asking costs nothing. */
export interface Tries {
  /** Takes one; false when none is left. */
  take(client: string): boolean;
  giveBack(client: string): void;
}

interface Second {
  readonly second: number;
  count: number;
}

const MAX_CLIENTS = 10_000;

/**
 * Makes tries.
 * @param perSecond - for each client
 * @param now - clock, milliseconds since the epoch
 */
export function createTries(perSecond: number, now: () => number): Tries {
  const seconds = boundedCache<string, Second>({ max: MAX_CLIENTS });

  function of(client: string): Second {
    const second = Math.floor(now() / 1_000);
    const known = seconds.get(client);
    if (known?.second === second) return known;
    const begun = { second, count: 0 };
    seconds.set(client, begun);
    return begun;
  }

  return {
    take(client) {
      const current = of(client);
      if (current.count >= perSecond) return false;
      current.count += 1;
      return true;
    },
    giveBack(client) {
      const current = of(client);
      if (current.count > 0) current.count -= 1;
    },
  };
}
