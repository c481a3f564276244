import { startPostgres } from './postgres.js';

/** A database of a test's own, until it is stopped. */
export interface OwnDatabase {
  readonly url: string;
  stop(): Promise<void>;
}

/** SQLite and Postgres, for `describe.each`: each opens an empty database. */
export const BOTH_DATABASES: readonly [name: string, open: () => Promise<OwnDatabase>][] = [
  ['SQLite', async () => ({ url: 'memory:', stop: async () => {} })],
  [
    'Postgres',
    async () => {
      const postgres = await startPostgres();
      return { url: await postgres.newDatabase(), stop: postgres.stop };
    },
  ],
];

/** Where a database differs only in how it is asked, which the contracts try: SQLite alone from day to day, both in `test:all`. */
export const DAILY_DATABASES = process.env['DATABASES'] === 'all' ? BOTH_DATABASES : BOTH_DATABASES.slice(0, 1);
