import type { ServiceKeyFacts } from '../../storage/keys/service-keys.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';

/** Most wallets and keys that a private project can let in. */
export const MAX_ALLOWED = 100;

const KEY_ID = /^key_[1-9A-HJ-NP-Za-km-z]{1,22}$/;

/** What of a key says whose it is. */
export type KeyHand = Pick<ServiceKeyFacts, 'id' | 'owner'>;

/**
 * Whether a project is there for whoever shows a key. A private one is there for its owner's keys, the keys that it names, and
 * all keys of the wallets that it names; for everybody else it must be as one that there is not.
 * @param key - whose secret was proven; undefined where none was
 */
export function isVisibleTo(
  { visibility, owner, allowed = [] }: Pick<ProjectRecord, 'visibility' | 'owner' | 'allowed'>,
  key: KeyHand | undefined,
): boolean {
  if (visibility !== 'private') return true;
  return key !== undefined && (key.owner === owner || allowed.includes(key.owner) || allowed.includes(key.id));
}

/** What is wrong with an entry of `allowed`; undefined when nothing is. Whether there is such a key is not told. */
export function allowedFault(entry: string, isWallet: (address: string) => boolean): string | undefined {
  return KEY_ID.test(entry) || isWallet(entry) ? undefined : 'must be a wallet, or the id of a service key';
}
