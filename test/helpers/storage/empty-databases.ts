import type { Dialect } from '../../../src/storage/sql/sql-database.js';
import { testFolder } from '../processes/test-folder.js';
import { type PostgresServer, startPostgres } from './postgres.js';

/** A kind of database, for `test.each` and `describe.each`. */
export interface EmptyDatabases {
  readonly dialect: Dialect;
  /** The `DATABASE_URL` of one without a table. */
  newUrl(): Promise<string>;
}

/** Both kinds of database, for the tests of a file; to be called while it is read. */
export function emptyDatabases(): readonly [sqlite: EmptyDatabases, postgres: EmptyDatabases] {
  const folder = testFolder();
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  return [
    { dialect: 'sqlite', newUrl: async () => `sqlite:${folder.newPath('db')}` },
    { dialect: 'postgres', newUrl: () => server.emptyDatabase() },
  ];
}
