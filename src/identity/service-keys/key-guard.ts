import { isPending, type MaybePromise } from '../../lib/maybe-promise.js';
import { createLockOuts, type LockOutSetup } from '../lock-out.js';

/** Slows those who guess secrets, by client and by key. */
export interface KeyGuard {
  /** For how many milliseconds more a client may not try a key; zero or less when it may. */
  lockedFor(publicKey: string, client: string): MaybePromise<number>;
  /**
   * Counts a failure of a client.
   * @param publicKey - what it was at; undefined when that was no public key at all
   */
  failed(publicKey: string | undefined, client: string): Promise<void>;
}

const MINUTE_MS = 60_000;

/**
 * Locks a client out after some failures a minute, whatever the keys. While a key sees more than that, from however many
 * clients, a single one locks its client out of that key; its holder, elsewhere, comes in all the same.
 */
export function createKeyGuard(setup: Omit<LockOutSetup, 'space'>): KeyGuard {
  const { counters, failures, onStoreError } = setup;
  const clients = createLockOuts({ space: 'key-client', ...setup });
  const pairs = createLockOuts({ space: 'key-pair', ...setup });
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
    async failed(publicKey, client) {
      await clients.countFailure(client);
      if (publicKey !== undefined && (await isUnderAttack(publicKey))) await pairs.lock(pairOf(publicKey, client));
    },
  };
}
