import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { openStorage } from '../../../src/storage/open-storage.js';
import { freePort } from '../processes/free-port.js';

/** Databases of a real PostgreSQL server. */
export interface PostgresServer {
  /** Makes a database without a table and answers its URL. */
  emptyDatabase(): Promise<string>;
  /** Makes one with the schema of today: a copy, since making a schema takes longer than most tests. */
  newDatabase(): Promise<string>;
  /** Runs one statement in a database, beside whatever is under test. */
  query(url: string, text: string): Promise<readonly object[]>;
  /** Gives them back. */
  stop(): Promise<void>;
}

/** A server of a test's own, which it may stop and break. */
export interface OwnPostgres extends PostgresServer {
  /** Ends the server as a crash would. */
  crash(): Promise<void>;
  /** Starts it again after a crash, on the same port and data. */
  restart(): Promise<void>;
}

/** Where the files of one worker find the server that they share: the start of one takes longer than most of them. */
const SHARED = Symbol.for('tollhouse.test.postgres');

/** Databases on the server of this process, which starts with the first of them; those of a test end with its `stop`. */
export async function startPostgres(): Promise<PostgresServer> {
  const starting: Promise<OwnPostgres> = Reflect.get(process, SHARED) ?? ownPostgres();
  Reflect.set(process, SHARED, starting);
  // The next file tries anew.
  starting.catch(() => Reflect.deleteProperty(process, SHARED));
  const { emptyDatabase, newDatabase, query } = await starting;
  const urls: string[] = [];
  const thrownAway = async (made: Promise<string>): Promise<string> => {
    urls.push(await made);
    return made;
  };
  return {
    query,
    emptyDatabase: () => thrownAway(emptyDatabase()),
    newDatabase: () => thrownAway(newDatabase()),
    async stop() {
      for (const url of urls.splice(0)) {
        await query(new URL('/postgres', url).href, `drop database ${new URL(url).pathname.slice(1)} with (force)`);
      }
    },
  };
}

/** Starts a server on a free port; it ends with this process at the latest. */
export async function ownPostgres(): Promise<OwnPostgres> {
  const port = await freePort();
  const child = spawn(process.execPath, [join(__dirname, 'postgres-server.mjs'), String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const nextLine = linesOf(child);
  await nextLine();
  const base = `postgres://toll:house@127.0.0.1:${port}`;
  letGo(child);

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

  async function createDatabase(how = ''): Promise<string> {
    const name = `test_${process.pid}_${randomUUID().slice(0, 8)}`;
    await query(`${base}/postgres`, `create database ${name} ${how}`);
    return `${base}/${name}`;
  }

  /** The name of a database that nobody uses, with the schema of today. */
  async function makeTemplate(): Promise<string> {
    const url = await createDatabase();
    const storage = await openStorage(url);
    await storage.close();
    return new URL(url).pathname.slice(1);
  }
  let template: Promise<string> | undefined;

  return {
    query,
    crash: () => command('crash'),
    restart: () => command('start'),
    emptyDatabase: () => createDatabase(),
    newDatabase: async () => {
      template ??= makeTemplate();
      // The next test tries anew.
      template.catch(() => {
        template = undefined;
      });
      // The default goes through the server's buffers, and takes three times as long.
      return createDatabase(`template ${await template} strategy file_copy`);
    },
    stop: async () => {
      const closed = once(child, 'close');
      // Else a process that has nothing else to do ends here.
      for (const it of partsOf(child)) it.ref();
      child.stdin?.end();
      await closed;
    },
  };
}

/** Does not keep this process for the sake of a child, which ends with it. */
function letGo(child: ChildProcess): void {
  for (const it of partsOf(child)) it.unref();
}

/** What keeps a process for the sake of a child. */
function partsOf(child: ChildProcess): readonly (ChildProcess | Socket)[] {
  return [child, ...[child.stdin, child.stdout].filter((pipe) => pipe instanceof Socket)];
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
