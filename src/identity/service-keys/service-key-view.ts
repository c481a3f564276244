import type { ServiceKeyRecord } from '../../storage/keys/service-keys.js';
import { isScope } from './scopes.js';
import type { ServiceKey } from './service-key-types.js';

/** Records are kept in a cache, and each is shown with many requests. */
const views = new WeakMap<ServiceKeyRecord, ServiceKey>();

/** A key without its hashes. Scopes of another version of Tollhouse are left out. */
export function toServiceKey(record: ServiceKeyRecord): ServiceKey {
  const known = views.get(record);
  if (known !== undefined) return known;
  const { secretHash: _secret, previousHash: _previous, ...facts } = record;
  const view = Object.freeze({ ...facts, scopes: Object.freeze(facts.scopes.filter(isScope)) });
  views.set(record, view);
  return view;
}
