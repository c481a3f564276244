import { boundedCache } from '../../lib/bounded-cache.js';
import { isPending, type MaybePromise } from '../../lib/maybe-promise.js';
import { createLockOuts, type LockOutSetup } from '../lock-out.js';

/** Slows those who guess secrets, by client and by key. */
export interface KeyGuard {
  /** For how many milliseconds more a client may not try a key; zero or less when it may. */
  lockedFor(publicKey: string, client: string): MaybePromise<number>;
  /**
   * Whether one more key of a locked-out client may be looked for in the store: a good key gets in from where others fail, and who
   * makes keys up does not have the store asked for each of them.
   */
  mayLookUp(client: string): boolean;
  /**
   * Counts a failure of a client.
   * @param publicKey - what it was at; undefined when that was no public key at all
   */
  failed(publicKey: string | undefined, client: string): Promise<void>;
}

const MINUTE_MS = 60_000;
/** Look-ups a minute for a client that is locked out, in this process. */
const MAX_LOOK_UPS = 60;
const MAX_CLIENTS = 10_000;

/**
 * Locks a client out after some failures a minute, whatever the keys. While a key sees more than that, from however many
 * clients, a single one locks its client out of that key. Its holder comes in all the same.
 */
export function createKeyGuard(setup: Omit<LockOutSetup, 'space'>): KeyGuard {
  const { counters, failures, onStoreError, now } = setup;
  const clients = createLockOuts({ space: 'key-client', ...setup });
  const pairs = createLockOuts({ space: 'key-pair', ...setup });
  const lookUps = boundedCache<string, { used: number; readonly endsAt: number }>({ max: MAX_CLIENTS });
  const pairOf = (publicKey: string, client: string) => `${publicKey} ${client}`;

  async function isUnderAttack(publicKey: string): Promise<boolean> {
    try {
      return (await counters.increment(`key-failures:${publicKey}`, MINUTE_MS)).count > failures;
    } catch (error) {
      onStoreError(error);
      return false;
    }
  }

  return {
    lockedFor(publicKey, client) {
      const byClient = clients.lockedFor(client);
      const byPair = pairs.lockedFor(pairOf(publicKey, client));
      if (!isPending(byClient) && !isPending(byPair)) return Math.max(byClient, byPair);
      return Promise.all([byClient, byPair]).then((waits) => Math.max(...waits));
    },
    mayLookUp(client) {
      const known = lookUps.get(client);
      const window = known !== undefined && now() < known.endsAt ? known : { used: 0, endsAt: now() + MINUTE_MS };
      window.used += 1;
      lookUps.set(client, window);
      return window.used <= MAX_LOOK_UPS;
    },
    async failed(publicKey, client) {
      await clients.countFailure(client);
      if (publicKey !== undefined && (await isUnderAttack(publicKey))) await pairs.lock(pairOf(publicKey, client));
    },
  };
}
