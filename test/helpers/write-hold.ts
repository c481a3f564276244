import BetterSqlite3 from 'better-sqlite3';
import pg from 'pg';

/** Lets nobody write payments into a database until the function that it answers is called. */
export async function holdWrites(url: string): Promise<() => Promise<void>> {
  if (url.startsWith('sqlite:')) {
    const database = new BetterSqlite3(url.slice('sqlite:'.length));
    database.exec('begin immediate');
    return async () => void database.close();
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  await client.query('lock table tollhouse_payment in exclusive mode');
  return () => client.end();
}
