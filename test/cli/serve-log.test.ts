import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { Keypair } from '@solana/web3.js';
import { endOf, runFile, stopFiles, tollhouse } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { until } from '../helpers/until.js';

const folder = testFolder();

afterAll(stopFiles);

/** What a server prints, as long as it runs. */
function outputOf(child: ChildProcess) {
  const printed = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => {
    printed.out += String(chunk);
  });
  child.stderr?.on('data', (chunk) => {
    printed.err += String(chunk);
  });
  return printed;
}

const linesOf = ({ out }: { readonly out: string }) => out.split('\n').slice(0, -1);

test('each line of a server that is no terminal is JSON: requests, its start, and warnings of all kinds', async () => {
  const keypair = Keypair.generate();
  const path = folder.newPath('json');
  writeFileSync(path, JSON.stringify([...keypair.secretKey]), { mode: 0o644 });
  const secret = 'hunter2-hunter2-hunter2-hunter2-hunter2';
  const child = runFile('src/cli/main.ts', ['serve', '--json', '--port', '0'], {
    NODE_NO_WARNINGS: '',
    DATABASE_URL: 'memory:',
    LOG_LEVEL: 'info',
    BASE_URL: 'http://localhost',
    JWT_SECRET: secret,
    MAX_PAYMENTS_IN_FLIGT: '5',
    SOLANA_NETWORK: 'solana-devnet',
    SOLANA_RPC_URL: 'http://127.0.0.1:9/?api-key=hunter2',
    FACILITATOR_KEYPAIR: path,
    PAY_TO: Keypair.generate().publicKey.toBase58(),
  });
  const printed = outputOf(child);
  const parsed = () => linesOf(printed).map((line): Record<string, unknown> => JSON.parse(line));
  const started = () => parsed().find(({ demo_url }) => demo_url !== undefined);
  const codes = () => parsed().map(({ code }) => code);
  await until(() => printed.out.includes('"demo_url"') && started() !== undefined);
  await fetch(`${String(started()?.['url'])}/demo`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
  const warned = ['TOLLHOUSE_ENVIRONMENT', 'TOLLHOUSE_SECRET_FILE', 'TOLLHOUSE_RPC_UNREACHABLE'];
  await until(() => warned.every((code) => codes().includes(code)));
  child.kill('SIGTERM');
  await until(() => printed.out.includes('"msg":"stopped"'));

  for (const line of parsed().filter((it) => it !== started() && it['demo_url'] === undefined)) {
    expect(line).toMatchObject({ level: expect.stringMatching(/^(info|warn|error)$/), time: expect.any(String) });
    expect(line).toHaveProperty('msg');
  }
  expect(parsed().find(({ code }) => code === 'TOLLHOUSE_ENVIRONMENT')).toMatchObject({ level: 'warn' });
  expect(printed.err).not.toMatch(/Warning|"level"/);
  expect(printed.out).not.toContain('hunter2');
});

test.each([
  ['whose terminal is closed', ['SIGHUP', 'SIGHUP']],
  ['that is told twice in a moment, as npm passes a Ctrl-C on,', ['SIGINT', 'SIGTERM']],
] as const)('a server %s stops as one that is told to', async (_what, signals) => {
  const child = runFile('src/cli/main.ts', ['serve', '--json', '--port', '0'], {
    DATABASE_URL: 'memory:',
    LOG_LEVEL: 'info',
  });
  const printed = outputOf(child);
  await until(() => printed.out.includes('"demo_url"'));
  for (const signal of signals) child.kill(signal);
  expect((await endOf(child)).code).toBe(0);
  expect(printed.out).toContain('"msg":"stopped"');
});

test('a server that does not start says why in a line of its log', async () => {
  const child = runFile('src/cli/main.ts', ['serve', '--port', '0', '--host', '192.0.2.1'], {
    DATABASE_URL: 'memory:',
    LOG_LEVEL: 'info',
  });
  const printed = outputOf(child);
  const { code } = await endOf(child);
  expect(code).toBe(1);
  const line = JSON.parse(linesOf(printed).at(-1) ?? '');
  expect(line).toMatchObject({ level: 'error', code: 'EADDRNOTAVAIL', msg: 'the server does not start' });
  expect(printed.err).toMatch(/EADDRNOTAVAIL.*set --host to one of its own/);
});

test('a server whose port is taken says how to choose another', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { code, text } = await tollhouse('serve', '--port', String(port));
  taken.close();
  expect(code).toBe(1);
  expect(text).toMatch(/tollhouse: listen EADDRINUSE.*choose another port by --port/);
});

test('a server whose METRICS_PORT is taken says which port that is, and what sets it', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const child = runFile('src/cli/main.ts', ['serve', '--port', '0'], {
    DATABASE_URL: 'memory:',
    LOG_LEVEL: 'info',
    METRICS_PORT: String(port),
  });
  const printed = outputOf(child);
  const { code } = await endOf(child);
  taken.close();
  expect(code).toBe(1);
  expect(JSON.parse(linesOf(printed).at(-1) ?? '')).toMatchObject({
    code: 'EADDRINUSE',
    reason: expect.stringMatching(/^METRICS_PORT: listen EADDRINUSE/),
  });
  expect(printed.err).toMatch(/METRICS_PORT: listen EADDRINUSE.*choose another port by METRICS_PORT/);
  expect(printed.err).not.toContain('--port');
});

test('a key file with nothing in it is said to be empty', async () => {
  const path = folder.newPath('json');
  writeFileSync(path, '\n', { mode: 0o600 });
  const { code, text } = await tollhouse('pay', 'http://127.0.0.1:9/demo', '--keypair', path);
  expect([code, text]).toEqual([2, expect.stringContaining(`--keypair: the file "${path}" is empty: it must hold`)]);
});

test('a file that holds no key is named, and what it must hold', async () => {
  const path = folder.newPath('json');
  writeFileSync(path, '"junk"', { mode: 0o600 });
  const { code, text } = await tollhouse('pay', 'http://127.0.0.1:9/demo', '--keypair', path);
  expect([code, text]).toEqual([
    2,
    expect.stringContaining(`--keypair: the file "${path}" holds no key: it must hold`),
  ]);
});

test('with LOG_FORMAT=text people read lines of words', async () => {
  const child = runFile('src/cli/main.ts', ['serve', '--port', '0'], {
    DATABASE_URL: 'memory:',
    LOG_FORMAT: 'text',
    FACILITATOR_KEYPAR: 'misspelt',
  });
  const printed = outputOf(child);
  await until(() => /^server +http/m.test(printed.out));
  expect(printed.out).toMatch(/^\d\d:\d\d:\d\d INFO listening url=http/m);
  expect(printed.out).toMatch(/^\d\d:\d\d:\d\d WARN the environment variable .* code=TOLLHOUSE_ENVIRONMENT$/m);
});
