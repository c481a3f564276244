import type { SqlDatabase, SqlInput, Statement } from '../sql-database.js';
import { holderOf, leaseOf } from './presence.js';

/** Leases that tell which process has taken them, and end with it. */
export interface ProcessLeases {
  /** A lease as it is written down. */
  named(lease: string): string;
  /**
   * Ends those of processes that are gone, however long they were taken for.
   * @param leaseMs - how long each was taken for
   * @param values - what `held` asks for, before the time
   */
  endLost(leaseMs: number, ...values: readonly SqlInput[]): Promise<void>;
}

/** The statements over what is leased. */
export interface LeaseStatements {
  /** `id`, `lease` and `lease_ends` of what is held at the time that is its last parameter, a hundred at most. */
  readonly held: Statement;
  /** Ends the lease `$2` of `$1`. */
  readonly end: Statement;
}

/**
 * Makes the leases of a process, which are taken once and not extended.
 * @param now - clock, milliseconds since the epoch
 */
export function processLeases(database: SqlDatabase, { held, end }: LeaseStatements, now: () => number): ProcessLeases {
  const { presence } = database;
  return {
    named: (lease) => leaseOf(presence, lease),
    async endLost(leaseMs, ...values) {
      const time = now();
      for (const { id, lease, lease_ends } of await database.query(held, ...values, time)) {
        const holder = holderOf(String(lease));
        const isSilent = Number(lease_ends) - leaseMs + presence.silentMs <= time;
        if (holder === undefined || !isSilent || !(await presence.isGone(holder))) continue;
        await database.query(end, String(id), String(lease));
      }
    },
  };
}
