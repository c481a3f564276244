import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { freePort } from '../helpers/processes/free-port.js';
import { endOf, runFile, stopFiles } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { fillDisk, HAS_DISK_LIMIT, makeRoom } from '../helpers/storage/disk-limit.js';
import { until } from '../helpers/until.js';

const REQUESTS = 400;
const LONG = 'x'.repeat(1_000);

const folder = testFolder();

afterAll(stopFiles);

/** A server whose log goes to an open file, or is told by `logged`; resolves when it answers. */
async function startServer(stdout: number | 'pipe', environment: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  const child = runFile(
    'src/cli/main.ts',
    ['serve', '--port', String(port)],
    { DATABASE_URL: 'memory:', LOG_LEVEL: 'info', RATE_LIMIT_SCALE: '100', ...environment },
    stdout,
  );
  if (stdout !== 'pipe') closeSync(stdout);
  let log = '';
  child.stdout?.on('data', (chunk) => {
    log += String(chunk);
  });
  const ended = endOf(child);
  /** Sends a request that is logged; the status, 0 where there is no answer. */
  const ask = (path: string): Promise<number> =>
    new Promise((resolve) => {
      get({ port, path, agent: false }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0));
      }).once('error', () => resolve(0));
    });
  await until(async () => (await ask('/healthz')) === 200);
  return {
    ask,
    pid: Number(child.pid),
    logged: () =>
      log
        .split('\n')
        .slice(0, -1)
        .map((line): Record<string, unknown> => JSON.parse(line)),
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

const FULL_DEVICE = '/dev/full';
const onLinux = existsSync(FULL_DEVICE) && HAS_DISK_LIMIT ? test : test.skip;

onLinux('a server that can write no line of its log serves and stops', async () => {
  const server = await startServer(openSync(FULL_DEVICE, 'w'));
  for (let at = 0; at < REQUESTS; at += 1) expect(await server.ask('/demo')).toBe(402);
  expect(await server.stop()).toMatchObject({ code: 0 });
});

onLinux('a log whose disk was full says how many lines it has lost, and has whole lines only', async () => {
  const path = folder.newPath('log');
  const server = await startServer(openSync(path, 'a'));
  const written = () => readFileSync(path, 'utf8');
  let asked = 1;
  await server.ask('/demo');
  await until(() => written().includes('/demo'));

  fillDisk(server.pid);
  for (; asked < REQUESTS; asked += 1) await server.ask('/demo');
  makeRoom(server.pid);
  await until(async () => {
    await server.ask('/demo');
    asked += 1;
    return written().includes('lines of the log were lost');
  });
  expect(await server.stop()).toMatchObject({ code: 0 });

  const lines = written().trimEnd().split('\n');
  const parsed = lines.map((line): Record<string, unknown> => JSON.parse(line));
  const told = parsed.find(({ lost }) => lost !== undefined);
  expect(told).toMatchObject({ level: 'error', reason: 'EFBIG' });
  const logged = parsed.filter(({ path }) => path === '/demo');
  expect(Number(told?.['lost']) + logged.length).toBe(asked);
  expect(parsed.at(-1)).toMatchObject({ msg: 'stopped' });
});

onLinux.each(['json', 'text'])('a server whose log nobody reads, as %s, serves and stops', async (format) => {
  const path = folder.newPath('fifo');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDWR);
  const server = await startServer(openSync(path, constants.O_WRONLY), { LOG_FORMAT: format });
  await Promise.all(Array.from({ length: REQUESTS }, () => server.ask(`/demo/${LONG}`)));
  expect(await server.ask('/demo')).toBe(402);
  expect(await server.stop()).toMatchObject({ code: 0 });
  closeSync(reader);
});

onLinux(
  'a server whose books have no room on their disk says so once, what to do, and when they have it again',
  async () => {
    const server = await startServer('pipe', { DATABASE_URL: `sqlite:${folder.newPath('db')}` });
    fillDisk(server.pid);
    const ofStore = () => server.logged().filter(({ part }) => part === 'store');
    await until(() => ofStore().length > 0);
    expect(await server.ask('/readyz')).toBe(503);
    makeRoom(server.pid);
    await until(() => ofStore().length > 1);
    expect(ofStore()).toEqual([
      expect.objectContaining({
        level: 'error',
        msg: expect.stringMatching(/takes no writes: .* make room on its disk/),
      }),
      expect.objectContaining({ level: 'info', msg: 'what had failed is well again' }),
    ]);
    await server.stop();
  },
);
