import { TollhouseError } from '../../errors/errors.js';
import type { KeyHolder, ServiceKeyRecord, ServiceKeyStore } from '../../storage/keys/service-keys.js';
import { quotaReached } from '../../storage/owners/quotas.js';
import { keyEvent, keyRevoked } from './key-event.js';
import { chooseFacts, type NewKeySetup, type WantedServiceKey } from './new-service-key.js';
import type { ServiceKey } from './service-key-types.js';
import { toServiceKey } from './service-key-view.js';

/** What {@link createKeyUpdate} works with. */
export interface KeyUpdateParts extends NewKeySetup {
  readonly store: Pick<ServiceKeyStore, 'update'>;
  readonly find: (holder: KeyHolder, id: string) => Promise<ServiceKeyRecord>;
  /** Forgets what this process knows of a key. */
  readonly forget: (publicKey: string) => void;
  readonly keyQuota: (owner: string) => Promise<number>;
}

const CHANGED_MEANWHILE =
  'The service key has another version than `If-Match` names, or was changed meanwhile; read it again.';

/** Makes what changes a key, see `ServiceKeys.update`. */
export function createKeyUpdate(parts: KeyUpdateParts) {
  const { store, find, forget, keyQuota, now } = parts;
  return async (
    holder: KeyHolder,
    id: string,
    change: (key: ServiceKey) => WantedServiceKey,
    isMeant: (version: number) => boolean = () => true,
  ): Promise<ServiceKey> => {
    const before = await find(holder, id);
    const { version = 1, owner, publicKey } = before;
    if (before.revokedAt !== undefined) throw keyRevoked();
    if (!isMeant(version)) throw new TollhouseError('precondition_failed', CHANGED_MEANWHILE);
    const record = await changedRecord(parts, before, change(toServiceKey(before)));
    const wasOver = before.expiresAt !== undefined && before.expiresAt <= now();
    // One that is over counts no more: that it is good again must not make more keys than its owner may have.
    const most = wasOver ? await keyQuota(owner) : undefined;
    const isKept = await store.update(record, keyEvent('key.updated', record, now(), holder), most);
    forget(publicKey);
    if (isKept) return toServiceKey({ ...record, version: version + 1 });
    const found = await find(holder, id);
    if (found.revokedAt === undefined && found.version === version) throw quotaReached('keys', most ?? 0);
    throw new TollhouseError('precondition_failed', CHANGED_MEANWHILE);
  };
}

/**
 * A key as its owner wants it from now on. What it is for, its mode and its project, stays; so does an end that is over already.
 * @throws TollhouseError `validation_failed`, naming the field
 */
async function changedRecord(
  setup: NewKeySetup,
  before: ServiceKeyRecord,
  wanted: WantedServiceKey,
): Promise<ServiceKeyRecord> {
  const { spending: _spending, expiresAt, perSecond: _perSecond, projectId, mode, ...stays } = before;
  const isSameEnd = wanted.expiresAt === expiresAt;
  const now = isSameEnd ? () => 0 : setup.now;
  const {
    mode: _mode,
    projectId: _projectId,
    ...chosen
  } = await chooseFacts({ ...setup, now }, before.owner, { ...wanted, mode, projectId: undefined }, before.metadata);
  return { ...stays, ...chosen, mode, ...(projectId === undefined ? {} : { projectId }) };
}
