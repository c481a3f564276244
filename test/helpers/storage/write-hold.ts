import pg from 'pg';
import { openSqliteFile } from './sqlite-file.js';

/** Lets nobody write payments into a database until the function that it answers is called. */
export async function holdWrites(url: string): Promise<() => Promise<void>> {
  if (url.startsWith('sqlite:')) {
    const database = await openSqliteFile(url);
    database.exec('begin immediate');
    return async () => void database.close();
  }
  return lockTable(url, 'tollhouse_payment', 'exclusive');
}

/** Lets nobody read or write a table of a Postgres database until the function that it answers is called. */
export function holdTable(url: string, table: string): Promise<() => Promise<void>> {
  return lockTable(url, table, 'access exclusive');
}

async function lockTable(url: string, table: string, mode: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  await client.query(`lock table ${table} in ${mode} mode`);
  return () => client.end();
}
