import pg from 'pg';
import type { SchemaConnection } from '../../../src/storage/sql/migrate.js';
import type { SqlInput } from '../../../src/storage/sql/sql-database.js';
import { openSqliteFile } from './sqlite-file.js';

/** A connection to a database, behind the back of whoever uses it. */
export interface OpenConnection extends SchemaConnection {
  close(): Promise<void>;
}

/** Connects to the database of a URL, `sqlite:` or `postgres:`. */
export function connectTo(url: string): Promise<OpenConnection> {
  return url.startsWith('sqlite:') ? toSqlite(url) : toPostgres(url);
}

/** Writes one row into a table. */
export async function insertRow(
  connection: SchemaConnection,
  table: string,
  row: Readonly<Record<string, SqlInput | undefined>>,
): Promise<void> {
  const columns = Object.keys(row);
  const places = columns.map((_column, at) => `$${at + 1}`);
  const values = columns.map((column) => row[column] ?? null);
  await connection.run(`insert into ${table} (${columns.join(', ')}) values (${places.join(', ')})`, ...values);
}

async function toSqlite(url: string): Promise<OpenConnection> {
  const file = await openSqliteFile(url);
  return {
    dialect: 'sqlite',
    async run(text, ...values) {
      const statement = file.prepare(text);
      const named = Object.fromEntries(values.map((value, at) => [at + 1, value]));
      if (statement.reader) return statement.all(named);
      statement.run(named);
      return [];
    },
    close: async () => void file.close(),
  };
}

async function toPostgres(url: string): Promise<OpenConnection> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    dialect: 'postgres',
    run: async (text, ...values) => (await client.query(text, [...values])).rows,
    close: () => client.end(),
  };
}
