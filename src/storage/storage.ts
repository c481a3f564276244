import type { Counters } from './counters/counters.js';
import type { GatewayStores } from './gateway-stores.js';
import type { HeldTimes } from './held/held-times.js';
import type { IdempotencyStore } from './idempotency/idempotency-store.js';
import type { Ledger } from './ledger/ledger.js';
import type { PassStore } from './passes/pass-store.js';
import type { RefundStore } from './payouts/refund-store.js';
import type { SqlDatabase } from './sql/sql-database.js';

/** Options of `openStorage`. */
export interface StorageOptions {
  /**
   * `redis://user:password@host:port/database` or `rediss://…`: rate limits are counted there. Default: in Postgres, or in
   * this process where the database is not shared.
   */
  readonly redisUrl?: string | undefined;
  /** Clock, milliseconds since the epoch. Instances that share a database must agree to within some seconds. */
  readonly now?: (() => number) | undefined;
}

/** Whether a storage can be written to, and how much room it has. */
export interface StoreState {
  /** Whether a write has just succeeded: on a full or read-only disk, or a standby, it has not. */
  readonly writable: boolean;
  /** Bytes that are left on its disk; missing where it is not a file of this machine. */
  readonly freeBytes?: number;
  /** Whether its file was moved, deleted or replaced, so that the next start would not find what is written now; missing where it was not. */
  readonly moved?: boolean;
}

/** Where a service keeps what it must not lose, and what it counts. */
export interface Storage {
  /** The database under it, for the stores of the gateway. */
  readonly database: SqlDatabase;
  readonly ledger: Ledger;
  readonly counters: Counters;
  /** Counts of bounds that last a day, which a restart takes nothing of: in Redis where `counters` counts there, else in the database. */
  readonly dailyCounters: Pick<Counters, 'increment' | 'decrement'>;
  /** What a gateway keeps, in the same database as the ledger. */
  readonly gateway: GatewayStores;
  /** Since when wallets have been seen holding what gates with `heldFor` ask for. */
  readonly heldTimes: HeldTimes;
  /** What payments have bought for more than one request. */
  readonly passes: PassStore;
  /** What was paid back on the chain of payments whose requests failed. */
  readonly refunds: RefundStore;
  /** Answers that can be asked for again, encrypted; for 24 hours, at most 256 MiB. */
  readonly idempotency: IdempotencyStore;
  /**
   * Forgets a few entries that are of no more use: payments and payment requests from before a time, marks, values and
   * counts that have expired, passes that are over, and answers that are too old or too many. Call it from time to time until it answers 0. What
   * a gateway keeps has a method of its own.
   * @param before - milliseconds since the epoch
   * @param limit - how many of each kind go at most, and so how long it takes
   * @param booksBefore - the same for the books of the money: payments that were served, passes; default `before`
   * @returns how many went
   */
  prune(before: number, limit: number, booksBefore?: number): Promise<number>;
  /** Writes a mark that nobody reads, as nothing else proves that the database takes writes, and looks how much room there is, and whether its file is still in its place. Never rejects. */
  probe(): Promise<StoreState>;
  /**
   * Which file of a SQLite database is no longer what was opened: moved, deleted, replaced or overwritten, the log beside it too. Undefined where
   * all are. Writes nothing and waits for nothing: it looks once a second at most, however often it is called.
   */
  misplaced(): string | undefined;
  /** Closes every connection; the ledger and the counters are of no use after it. */
  close(): Promise<void>;
}
