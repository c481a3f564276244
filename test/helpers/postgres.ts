import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';

/** A real PostgreSQL server of a test's own. */
export interface PostgresServer {
  /** Makes an empty database and answers its URL. */
  newDatabase(): Promise<string>;
  /** Runs one statement in a database, beside whatever is under test. */
  query(url: string, text: string): Promise<readonly object[]>;
  stop(): Promise<void>;
}

/** Starts a server on a free port; it ends with the test, whatever becomes of it. */
export async function startPostgres(): Promise<PostgresServer> {
  const child = spawn(process.execPath, [join(__dirname, 'postgres-server.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const base = `postgres://toll:house@127.0.0.1:${await firstLine(child)}`;
  let databases = 0;

  async function query(url: string, text: string): Promise<readonly object[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<object>(text)).rows;
    } finally {
      await client.end();
    }
  }

  return {
    query,
    newDatabase: async () => {
      databases += 1;
      await query(`${base}/postgres`, `create database test_${databases}`);
      return `${base}/test_${databases}`;
    },
    stop: async () => {
      const closed = once(child, 'close');
      child.stdin?.end();
      await closed;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the server has no output');
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('the PostgreSQL server did not start; see its messages above');
}
