import { randomBytes } from 'node:crypto';
import { TollhouseError } from '../../errors/errors.js';
import { newId } from '../../lib/ids.js';
import { endOfOldSecret } from '../../lib/secret-overlap.js';
import type { Actor } from '../../storage/audit/audit-log.js';
import type { Counters } from '../../storage/counters/counters.js';
import type { KeyHolder, KeyPage, ServiceKeyRecord, ServiceKeyStore } from '../../storage/keys/service-keys.js';
import { DEFAULT_QUOTAS, endedTooMany, quotaReached } from '../../storage/owners/quotas.js';
import { createStoreWarning } from '../store-warning.js';
import { createKeyUpdate } from './changed-service-key.js';
import { createKeyAuthenticator, type KeyAuthenticatorSetup } from './key-authenticator.js';
import { createKeyCache } from './key-cache.js';
import { keyEvent, keyRevoked } from './key-event.js';
import { createKeyGuard } from './key-guard.js';
import { chooseFacts, type NewKeySetup, type WantedServiceKey } from './new-service-key.js';
import { hashSecret, newPublicKey, newSecret, type RandomBytes } from './service-key.js';
import type { KeyAuthenticator, ServiceKey } from './service-key-types.js';
import { toServiceKey } from './service-key-view.js';

/** A key with its secret, which is shown this once. */
export interface RevealedKey {
  readonly key: ServiceKey;
  /** What goes into `X-Service-Secret`. */
  readonly secret: string;
}

/**
 * Service keys. Whoever may not see a key is told `not_found`; every method rejects with `store_unavailable`
 * when the store does not answer.
 */
export interface ServiceKeys extends KeyAuthenticator {
  /**
   * Makes a key for a wallet.
   * @param by - on whose behalf, for the audit log. Default: the wallet's
   * @throws TollhouseError `validation_failed`, or `quota_reached` when it has as many as it may, or as many have ended as may for the time
   */
  generate(owner: string, wanted: WantedServiceKey, by?: Actor): Promise<RevealedKey>;
  /** Keys that somebody may see, newest first, revoked ones too. */
  list(holder: KeyHolder, page: KeyPage): Promise<readonly ServiceKey[]>;
  /** @throws TollhouseError `not_found` */
  get(holder: KeyHolder, id: string): Promise<ServiceKey>;
  /** Wallet of a key, base58, also of a revoked one; undefined when there is no such key. */
  ownerOf(id: string): Promise<string | undefined>;
  /**
   * Changes a key: at once in this process, within 30 s in all others. What was spent of a budget stays spent.
   * @param change - what is asked of the key as it is
   * @param isMeant - whether the version that it has is meant. Default: every one
   * @throws TollhouseError `not_found`, also for a key that is revoked; `validation_failed`, `precondition_failed`, `quota_reached`
   */
  update(
    holder: KeyHolder,
    id: string,
    change: (key: ServiceKey) => WantedServiceKey,
    isMeant?: (version: number) => boolean,
  ): Promise<ServiceKey>;
  /**
   * Gives a key another secret. Of earlier ones the last alone may stay good for a while.
   * @param overlapMs - how much longer the one before is good, in milliseconds; 0 ends it at once in this process, within 30 s in
   * all others. Default: a day.
   * @throws TollhouseError `not_found`, also for a key that is revoked
   */
  rotate(holder: KeyHolder, id: string, overlapMs?: number): Promise<RevealedKey>;
  /**
   * Revokes a key for ever: at once in this process, within 30 s in all others. Its notes, addresses and projects are forgotten. Again
   * changes nothing.
   * @throws TollhouseError `not_found`
   */
  revoke(holder: KeyHolder, id: string): Promise<void>;
}

/** What service keys work with. */
export interface ServiceKeysSetup
  extends Pick<NewKeySetup, 'tokens' | 'mode' | 'isLiveOnly'>,
    Pick<KeyAuthenticatorSetup, 'suspended'> {
  readonly store: ServiceKeyStore;
  readonly counters: Pick<Counters, 'increment' | 'put' | 'get'>;
  /** Wallet that owns a project; undefined when there is none. Default: there are no projects. */
  readonly projectOwner?: ((projectId: string) => Promise<string | undefined>) | undefined;
  /** How many keys a wallet may have, revoked and expired ones not counted; of those five times as many within 30 days. Default: 50. */
  readonly keyQuota?: ((owner: string) => Promise<number>) | undefined;
  /** Multiplies every limit. Default 1. */
  readonly scale?: number | undefined;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: (() => number) | undefined;
  /** Random bytes. Default: the system's. */
  readonly random?: RandomBytes | undefined;
}

/** Requests a second for keys without a limit of their own. */
export const KEY_REQUESTS_PER_SECOND = 25;
/** Failed authentications a minute that lock out. */
const AUTH_FAILURES = 10;
const ID = /^key_[1-9A-HJ-NP-Za-km-z]{1,22}$/;

/** Makes service keys on a store. */
export function createServiceKeys(setup: ServiceKeysSetup): ServiceKeys {
  const { store, counters, scale = 1, now = Date.now, random = randomBytes } = setup;
  const { projectOwner = async () => undefined, keyQuota = async () => DEFAULT_QUOTAS.keys } = setup;
  const cache = createKeyCache(store, now);
  const failures = Math.max(1, Math.round(AUTH_FAILURES * scale));
  const onStoreError = createStoreWarning(now, 'requests with service keys cannot be counted and pass all the same');
  const shared = { ...setup, counters, scale, now, onStoreError };
  const guard = createKeyGuard({ ...shared, failures });

  async function generate(
    owner: string,
    wanted: WantedServiceKey,
    by: Actor = { wallet: owner },
  ): Promise<RevealedKey> {
    const chosen = await chooseFacts({ ...shared, projectOwner }, owner, wanted);
    const secret = newSecret(chosen.mode, random);
    const named = { id: newId('key'), publicKey: newPublicKey(chosen.mode, random), owner, createdAt: now() };
    const record: ServiceKeyRecord = { ...chosen, ...named, secretHash: hashSecret(secret) };
    const most = await keyQuota(owner);
    const made = await store.insert(record, keyEvent('key.created', record, record.createdAt, by), most);
    if (made.status === 'quota_reached')
      throw made.freeAt ? endedTooMany('keys', most, made.freeAt) : quotaReached('keys', most);
    return { key: toServiceKey(record), secret };
  }

  async function find(holder: KeyHolder, id: string): Promise<ServiceKeyRecord> {
    const record = ID.test(id) ? await store.find(id, holder) : undefined;
    if (record === undefined) throw new TollhouseError('not_found', 'You have no service key of this id.');
    return record;
  }

  async function rotate(holder: KeyHolder, id: string, overlapMs?: number): Promise<RevealedKey> {
    const record = await find(holder, id);
    const secret = newSecret(record.mode, random);
    const rotation = { secretHash: hashSecret(secret), previousUntil: endOfOldSecret(now(), overlapMs) };
    const isRotated = await store.rotate(id, rotation, keyEvent('key.rotated', record, now(), holder));
    cache.forget(record.publicKey);
    if (!isRotated) throw keyRevoked();
    return { key: toServiceKey({ ...record, ...rotation }), secret };
  }

  async function revoke(holder: KeyHolder, id: string): Promise<void> {
    const record = await find(holder, id);
    await store.revoke(id, now(), keyEvent('key.revoked', record, now(), holder));
    cache.forget(record.publicKey);
  }

  return {
    ...createKeyAuthenticator({ ...shared, cache, guard, perSecond: KEY_REQUESTS_PER_SECOND }),
    generate,
    update: createKeyUpdate({ ...shared, projectOwner, keyQuota, store, find, forget: cache.forget }),
    rotate,
    revoke,
    ownerOf: async (id) => (ID.test(id) ? store.ownerOf(id) : undefined),
    list: async (holder, page) => (await store.list(holder, page)).map(toServiceKey),
    get: async (holder, id) => toServiceKey(await find(holder, id)),
  };
}
