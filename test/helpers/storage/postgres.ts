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
  /** Ends the server as a crash would. */
  crash(): Promise<void>;
  /** Starts it again after a crash, on the same port and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server on a free port; it ends with the test, whatever becomes of it. */
export async function startPostgres(): Promise<PostgresServer> {
  const child = spawn(process.execPath, [join(__dirname, 'postgres-server.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const nextLine = linesOf(child);
  const base = `postgres://toll:house@127.0.0.1:${await nextLine()}`;
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

  async function command(line: string): Promise<void> {
    child.stdin?.write(`${line}\n`);
    await nextLine();
  }

  return {
    query,
    crash: () => command('crash'),
    restart: () => command('start'),
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

/** The function that answers the next line which a process prints. */
function linesOf({ stdout }: ChildProcess): () => Promise<string> {
  if (stdout === null) throw new Error('the server has no output');
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return async () => {
    const line = await lines.next();
    if (line.done) throw new Error('the PostgreSQL server did not start; see its messages above');
    return line.value;
  };
}
