import { createLeases, type Leases } from '../../facilitator/payments/leases.js';
import type { Facilitator } from '../../facilitator/types.js';

type IdempotencyStore = Facilitator['idempotency'];

const known = new WeakMap<IdempotencyStore, Leases>();

/** Holds the runs of a store that this process works on; undefined where the store can hold none for longer than it did at first. */
export function runLeases(store: IdempotencyStore): Leases | undefined {
  const { extend } = store;
  if (extend === undefined) return undefined;
  const leases = known.get(store) ?? createLeases({ extend: (...run) => extend.apply(store, run) });
  known.set(store, leases);
  return leases;
}
