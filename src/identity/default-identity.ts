import type { Facilitator } from '../facilitator/types.js';
import { createIdentity } from './create-identity.js';
import type { Identity } from './types.js';

const shared = new WeakMap<Facilitator, Identity>();

/**
 * The identity that all gates on a facilitator share unless they are given another: wallets of its network, proven by
 * SIGN-IN-WITH-X, nonces in its storage or this process's memory, no tokens.
 */
export function identityOf(facilitator: Facilitator): Identity {
  const identity = shared.get(facilitator) ?? createIdentity({ facilitator });
  shared.set(facilitator, identity);
  return identity;
}
