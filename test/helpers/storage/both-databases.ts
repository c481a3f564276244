import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from './postgres.js';

/** A database of a test's own, until it is stopped. */
export interface OwnDatabase {
  readonly url: string;
  stop(): Promise<void>;
}

type Database = readonly [name: string, open: () => Promise<OwnDatabase>];

const POSTGRES: Database = [
  'Postgres',
  async () => {
    const postgres = await startPostgres();
    return { url: await postgres.newDatabase(), stop: postgres.stop };
  },
];
const SQLITE_FILE: Database = [
  'SQLite',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollhouse-test-'));
    return { url: `sqlite:${join(folder, 'db')}`, stop: () => rm(folder, { recursive: true, force: true }) };
  },
];

/** SQLite and Postgres, for `describe.each`: each opens one that nothing is in. */
export const BOTH_DATABASES: readonly Database[] = [
  ['SQLite', async () => ({ url: 'memory:', stop: async () => {} })],
  POSTGRES,
];

const daily = (both: readonly Database[]) => (process.env['DATABASES'] === 'all' ? both : both.slice(0, 1));

/** Where a database differs only in how it is asked, which the contracts try: SQLite alone from day to day, both in `test:all`. */
export const DAILY_DATABASES = daily(BOTH_DATABASES);
/** The same for several instances on one database, which is a file where it is SQLite. */
export const SHARED_DATABASES = daily([SQLITE_FILE, POSTGRES]);
