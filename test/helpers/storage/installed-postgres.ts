import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../processes/free-port.js';
import { until } from '../until.js';

/** A PostgreSQL server of the version of the client tools in PATH. */
export interface InstalledPostgres {
  /** Makes a database without a table and answers its URL. */
  emptyDatabase(): Promise<string>;
  /** Runs one statement in a database, beside whatever is under test. */
  query(url: string, text: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the server that is installed beside `pg_dump`; undefined where there is none. The one of the tests' package is of a later version. */
export async function startInstalledPostgres(): Promise<InstalledPostgres | undefined> {
  const [, version] = /(\d+)/.exec(spawnSync('pg_dump', ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? [];
  const bin = `/usr/lib/postgresql/${version}/bin`;
  if (version === undefined || !existsSync(join(bin, 'initdb'))) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'tollhouse-installed-postgres-'));
  const user = process.getuid?.() === 0 ? userOf('postgres') : undefined;
  chmodSync(folder, 0o700);
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'toll', '-A', 'trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    {
      ...user,
      cwd: folder,
      stdio: 'ignore',
    },
  );
  const port = await freePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'];
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...settings.flatMap((it) => ['-c', it])], {
    ...user,
    cwd: folder,
    stdio: 'ignore',
  });
  const base = `postgres://toll:house@127.0.0.1:${port}`;
  await until(() =>
    query(`${base}/postgres`, 'select 1').then(
      () => true,
      () => false,
    ),
  );
  let databases = 0;
  return {
    query,
    async emptyDatabase() {
      databases += 1;
      await query(`${base}/postgres`, `create database test_${databases}`);
      return `${base}/test_${databases}`;
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function userOf(name: string): { readonly uid: number; readonly gid: number } {
  const id = (flag: string): number => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end();
  }
}
