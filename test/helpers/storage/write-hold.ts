import pg from 'pg';
import { openSqliteFile } from './sqlite-file.js';

/** Lets nobody write payments into a database until the function that it answers is called. */
export async function holdWrites(url: string): Promise<() => Promise<void>> {
  if (url.startsWith('sqlite:')) {
    const database = await openSqliteFile(url);
    database.exec('begin immediate');
    return async () => void database.close();
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  await client.query('lock table tollhouse_payment in exclusive mode');
  return () => client.end();
}
