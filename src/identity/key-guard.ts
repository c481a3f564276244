import { createLockOuts, type LockOutSetup } from './lock-out.js';

/** Slows those who guess secrets, by client and by key. */
export interface KeyGuard {
  /** For how many milliseconds more a client may not try a key; zero or less when it may. */
  lockedFor(publicKey: string, client: string): Promise<number>;
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
    async lockedFor(publicKey, client) {
      const waits = [clients.lockedFor(client), pairs.lockedFor(pairOf(publicKey, client))];
      return Math.max(...(await Promise.all(waits)));
    },
    async failed(publicKey, client) {
      await clients.countFailure(client);
      if (publicKey !== undefined && (await isUnderAttack(publicKey))) await pairs.lock(pairOf(publicKey, client));
    },
  };
}
