import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { openStorage } from '../../src/storage/open-storage.js';
import { openTcpRelay } from '../helpers/nodes/tcp-relay.js';
import { endOf, runFile, stopFiles } from '../helpers/processes/run-file.js';
import { openPooler } from '../helpers/storage/pooler.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { until } from '../helpers/until.js';

/** The way to a database, and how it is closed. */
interface Way {
  readonly url: string;
  close?(): Promise<void>;
}

let postgres: PostgresServer;
const roles: string[] = [];
const ways: Way[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
});
afterEach(async () => {
  stopFiles();
  for (const { close } of ways.splice(0)) await close?.();
});
afterAll(async () => {
  const url = await postgres.emptyDatabase();
  for (const role of roles) await postgres.query(url, `drop role ${role}`);
  await postgres.stop();
});

/** A user of the database who may have so many connections. */
async function allowed(connections: number): Promise<Way> {
  const url = new URL(await postgres.newDatabase());
  const role = `few_${randomUUID().slice(0, 8)}`;
  await postgres.query(
    url.href,
    `create role ${role} login password 'house' in role toll connection limit ${connections}`,
  );
  roles.push(role);
  url.username = role;
  return { url: url.href };
}

/** A user of the database who may do nothing with the tables of others. */
async function withoutRights(): Promise<Way> {
  const url = new URL(await postgres.newDatabase());
  await (await openStorage(url.href)).close();
  const role = `poor_${randomUUID().slice(0, 8)}`;
  await postgres.query(url.href, `create role ${role} login password 'house'`);
  roles.push(role);
  url.username = role;
  return { url: url.href };
}

async function opened(open: () => Promise<Way>): Promise<string> {
  const way = await open();
  ways.push(way);
  return way.url;
}

const run = (url: string, ...args: string[]): ChildProcess =>
  runFile('src/cli/main.ts', args, { DATABASE_URL: url, LOG_LEVEL: 'info', LOG_FORMAT: 'json' });
const doctor = (url: string) => endOf(run(url, 'doctor'));
const serve = (url: string) => run(url, 'serve', '--port', '0');

test.each<[string, () => Promise<Way>, RegExp, string]>([
  [
    'a pooler that does not know a parameter',
    async () => openPooler(await postgres.newDatabase(), 'options'),
    /unsupported startup parameter: options/,
    'pooler in session mode',
  ],
  [
    'a pooler in transaction mode that lets all parameters pass',
    async () => openPooler(await postgres.newDatabase()),
    /two connections are in one session: a pooler in transaction mode/,
    'pooler in session mode',
  ],
  [
    'a user with two connections',
    () => allowed(2),
    /too many connections for role|allows this user 2 connections/,
    'allow 11 connections',
  ],
  [
    'a user without rights',
    withoutRights,
    /permission denied for table tollhouse_/,
    'allow its user what the one that made the tables may',
  ],
])('%s: the log, the end of the server and the doctor say so, and what to do', async (_what, open, cause, advice) => {
  const url = await opened(open);
  const examined = await doctor(url);
  expect(examined.text).toMatch(cause);
  expect(examined.text).toMatch(new RegExp(`^  DATABASE_URL: .*${advice}`, 'm'));
  expect(examined.code).toBe(2);

  const ended = await endOf(serve(url));
  const lines = ended.text.split('\n');
  for (const where of ['tollhouse: ', '{"level":"error"']) {
    const said = lines.find((line) => line.startsWith(where));
    expect(said).toMatch(cause);
    expect(said).toContain(advice);
  }
  expect(ended.code).toBe(1);
});

test.each<[string, () => Promise<Way>]>([
  ['a relay that gives each client its session', async () => openTcpRelay(await postgres.newDatabase())],
  ['a user with as many connections as a process has', () => allowed(11)],
])('%s: the doctor says that it is well, and the server starts', async (_what, open) => {
  const url = await opened(open);
  expect((await doctor(url)).text).toMatch(/^ok +DATABASE_URL/m);
  const server = serve(url);
  let out = '';
  server.stdout?.on('data', (chunk) => {
    out += String(chunk);
  });
  await until(() => out.includes('"listening"'));
  server.kill('SIGTERM');
  await endOf(server);
});
