import type { ServiceKeyRecord } from '../storage/service-keys.js';
import { isScope } from './scopes.js';
import type { ServiceKey } from './service-key-types.js';

/** A key without its hashes. Scopes of another version of Tollhouse are left out. */
export function toServiceKey({ secretHash: _secret, previousHash: _previous, ...facts }: ServiceKeyRecord): ServiceKey {
  return { ...facts, scopes: facts.scopes.filter(isScope) };
}
