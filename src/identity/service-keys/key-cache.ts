import { boundedCache } from '../../lib/bounded-cache.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import type { ServiceKeyRecord, ServiceKeyStore } from '../../storage/keys/service-keys.js';

/** Look-ups of service keys that remember what they found. */
export interface KeyCache {
  /**
   * The key with this public key.
   * @param maxAgeMs - how old what is known of it may be; so late is known here what another process has changed
   */
  find(publicKey: string, maxAgeMs: number): MaybePromise<ServiceKeyRecord | undefined>;
  /** What is known of a key, however old; the store is not asked. */
  known(publicKey: string): ServiceKeyRecord | undefined;
  /** Forgets a key that was changed by this process. */
  forget(publicKey: string): void;
}

const MAX_KEYS = 10_000;
/** Public keys that do not exist have a bound of their own, so that who makes them up pushes nothing out. */
const MAX_UNKNOWN = 10_000;

interface Found {
  readonly record: ServiceKeyRecord | undefined;
  readonly readAt: number;
}

/** Puts a bounded cache in front of a store; look-ups of the same key at the same time are one. */
export function createKeyCache(store: Pick<ServiceKeyStore, 'findByPublicKey'>, now: () => number): KeyCache {
  const known = boundedCache<string, Found>({ max: MAX_KEYS });
  const unknown = boundedCache<string, Found>({ max: MAX_UNKNOWN });
  const pending = new Map<string, Promise<ServiceKeyRecord | undefined>>();

  async function read(publicKey: string): Promise<ServiceKeyRecord | undefined> {
    const readAt = now();
    const reading = store.findByPublicKey(publicKey);
    pending.set(publicKey, reading);
    try {
      const record = await reading;
      // Whoever changed the key meanwhile has taken this reading out: it may be of before the change.
      if (pending.get(publicKey) === reading)
        (record === undefined ? unknown : known).set(publicKey, { record, readAt });
      return record;
    } finally {
      if (pending.get(publicKey) === reading) pending.delete(publicKey);
    }
  }

  return {
    find(publicKey, maxAgeMs) {
      const found = known.get(publicKey) ?? unknown.get(publicKey);
      if (found !== undefined && now() - found.readAt < maxAgeMs) return found.record;
      return pending.get(publicKey) ?? read(publicKey);
    },
    known: (publicKey) => known.get(publicKey)?.record,
    forget(publicKey) {
      for (const entries of [known, unknown, pending]) entries.delete(publicKey);
    },
  };
}
