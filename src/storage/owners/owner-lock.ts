import type { SqlDatabase, Statement, Step } from '../sql/sql-database.js';

const LOCK: Statement = {
  name: 'tollhouse_owner_lock',
  text: `select pg_advisory_xact_lock(hashtextextended('tollhouse owner ' || $1, 0))`,
};

/**
 * What comes first in a transaction that counts what a wallet owns before it adds to it: of several at the same time each sees
 * what those before it have added. SQLite writes one after the other anyway.
 */
export function ownerLock({ dialect }: SqlDatabase, owner: string): readonly Step[] {
  return dialect === 'postgres' ? [[LOCK, owner]] : [];
}
