import { Keypair } from '@solana/web3.js';
import { connectGateway } from '../helpers/fixtures/gateway-client.js';
import { startReceiver } from '../helpers/http/webhook-receiver.js';
import { freePort } from '../helpers/processes/free-port.js';
import { endOf, runFile, stopFiles } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { fillDisk, HAS_DISK_LIMIT } from '../helpers/storage/disk-limit.js';
import { until } from '../helpers/until.js';

const folder = testFolder();
const withLimit = HAS_DISK_LIMIT ? test.each : test.skip.each;

afterAll(stopFiles);

withLimit([
  ['says in a sentence what it could not write, and fails', true, 1, 'error', /^stopped, but .* nothing that was paid/],
  ['stops well where there is room', false, 0, 'info', /^stopped$/],
])('a server whose disk is full when it is stopped %s', async (_what, isFull, code, level, msg) => {
  const port = await freePort();
  const upstream = await startReceiver((res) => void setTimeout(() => res.end('in the end'), 1_500));
  const env = {
    DATABASE_URL: `sqlite:${folder.newPath('db')}`,
    LOG_FORMAT: 'json',
    RATE_LIMIT_SCALE: '100',
    ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
  };
  const child = runFile('src/cli/main.ts', ['serve', '--port', String(port)], env);
  let out = '';
  child.stdout?.on('data', (chunk) => {
    out += String(chunk);
  });
  const ended = endOf(child);
  await until(() => out.includes('"listening"'));
  const client = await connectGateway(`http://127.0.0.1:${port}`);
  const by = await client.signIn(Keypair.generate());
  const routes = [{ path: '/free', free: true }];
  await client.project(by, { slug: 'weather', upstream: { url: upstream.origin }, routes });
  const { headers } = await client.key(by);
  const underWay = client.call('weather/free', { headers });
  await until(() => upstream.received.length > 0);
  if (isFull) fillDisk(Number(child.pid));
  expect((await client.call('weather', { headers })).status).toBeGreaterThanOrEqual(402);
  child.kill('SIGTERM');

  expect((await underWay).text).toBe('in the end');
  const { code: exitCode, text } = await ended;
  await upstream.close();
  const last = JSON.parse(out.trim().split('\n').at(-1) ?? '{}');
  expect([exitCode, last]).toEqual([code, expect.objectContaining({ level, msg: expect.stringMatching(msg) })]);
  if (isFull) expect(last).toMatchObject({ reason: expect.stringContaining('figures lack them') });
  expect(text).not.toMatch(/^\s+at /m);
});
