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

const SEEN: Statement = {
  name: 'tollhouse_owner_seen',
  text: 'insert into tollhouse_owner (wallet, since) values ($1, $2) on conflict do nothing',
};

/** What notes that a wallet owns something from now on; for the transaction of what it is. */
export function ownerSteps(owner: string, at: number): readonly Step[] {
  return [[SEEN, owner, at]];
}
