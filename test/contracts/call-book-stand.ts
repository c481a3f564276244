import type { CallStore } from '../../src/storage/calls/call-store.js';
import type { CreditStore } from '../../src/storage/calls/credit-store.js';
import { createSqlCallStore } from '../../src/storage/calls/sql-call-store.js';
import { createSqlCreditStore } from '../../src/storage/calls/sql-credit-store.js';
import type { SqlDatabase, Step } from '../../src/storage/sql/sql-database.js';
import { testClock } from '../helpers/test-clock.js';
import { LATE_MARCH } from './call-samples.js';

/** A book under test: two instances over one database. */
export interface BookUnderTest {
  readonly book: CallStore;
  readonly other: CallStore;
  readonly credit: CreditStore;
  readonly otherCredit: CreditStore;
  readonly database: SqlDatabase;
  now(): number;
  advance(milliseconds: number): Promise<void>;
  /** Ids of all events that were written, in no order. */
  eventIds(): Promise<readonly string[]>;
  /** Closes the books; the databases stay. */
  close(): Promise<void>;
}

/** Two books on two connections to one database. */
export function booksOn([database, second]: readonly [SqlDatabase, SqlDatabase]): BookUnderTest {
  const { now, advance } = testClock(LATE_MARCH);
  const [book, other] = [createSqlCallStore(database, now), createSqlCallStore(second, now)];
  return {
    book,
    other,
    credit: createSqlCreditStore(database, now),
    otherCredit: createSqlCreditStore(second, now),
    database,
    now,
    advance,
    eventIds: async () => (await database.query(...step('select id from tollhouse_event'))).map(({ id }) => String(id)),
    close: async () => void (await Promise.all([book.close(), other.close()])),
  };
}

let statements = 0;

/** A statement of the test's own. */
export function step(text: string): Step {
  statements += 1;
  return [{ name: `test_${statements}`, text }];
}
