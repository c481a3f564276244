import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from '../helpers/processes/built-package.js';

const ROOT = join(__dirname, '../..');
const run = promisify(execFile);

/** What `import 'tollhouse'` loads, with what these need themselves. Whatever else is needed is loaded when it is first used. */
const LOADED_AT_IMPORT = [
  ['express', '@solana/web3.js'],
  ['zod', '@x402/core/schemas', 'express-rate-limit', 'lru-cache', 'ipaddr.js', 'bs58', 'ws'],
].flat();

/** Not even by way of others. */
const LOADED_LATER = ['@solana/spl-token', 'undici', 'jsonwebtoken', 'helmet', 'pg', 'better-sqlite3', 'ioredis'];

/** Modules of our own that are for what an importer may never do. */
const PARTS_LOADED_LATER = [
  'sql-storage',
  'service-document',
  'transfer-transaction',
  'mint-traits',
  'landed-transaction',
  'setup-check',
  'remote-setup',
];

/** Tells which files Node has compiled after an import, of either module system. */
const LIST_LOADED = `
  const { Session } = require('node:inspector');
  const session = new Session();
  session.connect();
  const urls = new Set();
  session.on('Debugger.scriptParsed', ({ params }) => urls.add(params.url));
  session.post('Debugger.enable');
  const [how, ...names] = process.argv.slice(2);
  const load = how === 'import' ? (name) => import(name) : require;
  (async () => {
    for (const name of names) await load(name);
    console.log(JSON.stringify([...urls].filter((it) => it.includes('node_modules'))));
  })();
`;

/** Does what loads the parts that an import leaves out, on a sandbox. */
const USE = `
  const express = require('express');
  const [how, index, sandboxEntry] = process.argv.slice(2);
  const load = how === 'import' ? (name) => import(name) : require;
  (async () => {
    const { createFacilitator, createIdentity, createRouter, openStorage, requirePayment } = await load(index);
    const { startSandbox } = await load(sandboxEntry);
    const { network, rpcUrl, wsUrl, tokens, createWallet, close } = await startSandbox();
    const storage = await openStorage('memory:');
    const feePayer = await createWallet({ sol: '1' });
    const [seller, buyer] = [await createWallet({ usdc: '0' }), await createWallet({ usdc: '1' })];
    const recipient = seller.publicKey.toBase58();
    const { ledger } = storage;
    const facilitator = createFacilitator({ network, rpcUrl, wsUrl, tokens, keypair: feePayer, ledger });
    const identity = createIdentity({ network, domain: 'shop.example', jwtSecret: 'a secret of thirty-two bytes or more' });
    const app = express();
    app.get('/paid', requirePayment({ facilitator, price: '$0.01', payTo: recipient }));
    app.use(createRouter({ facilitator, identity }));
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = 'http://127.0.0.1:' + server.address().port;
    const order = { amount: '0.5', token: 'USDC', recipient, payer: buyer.publicKey.toBase58() };
    const posted = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(order) };
    const { status: offered } = await fetch(url + '/paid');
    const { paths } = await (await fetch(url + '/openapi.json')).json();
    const { status: created } = await fetch(url + '/create-payment', posted);
    const bearer = { header: (name) => (name === 'authorization' ? 'Bearer nonsense' : undefined), url };
    const { status: proof } = await identity.prove(bearer);
    console.log(JSON.stringify({ offered, described: Object.keys(paths).includes('/settle'), created, proof }));
    server.closeAllConnections();
    server.close();
    await facilitator.close();
    await storage.close();
    await close();
  })();
`;

let built = '';

beforeAll(async () => {
  built = await buildPackage();
});

afterAll(() => rmSync(built, { recursive: true, force: true }));

const FORMATS = [
  { how: 'import', ending: 'js' },
  { how: 'require', ending: 'cjs' },
];

/** Runs a program of its own, and answers what it prints. */
async function evaluate(program: string, ...given: string[]): Promise<unknown> {
  const file = join(built, `program-${randomUUID()}.cjs`);
  writeFileSync(file, program);
  const { stdout } = await run(process.execPath, [file, ...given], { cwd: ROOT, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}

/** The files that are loaded with some modules. */
async function filesLoadedBy(how: string, ...names: string[]): Promise<string[]> {
  return (await evaluate(LIST_LOADED, how, ...names)) as string[];
}

/** The packages of some files; ours is not one. */
function packagesOf(files: readonly string[]): string[] {
  const names = files.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/.][^/]*)/.exec(url)?.[1] ?? []);
  return [...new Set(names)].sort();
}

describe.each(FORMATS)('$how of the built package', ({ how, ending }) => {
  test('loads these packages and what they need, and no other', async () => {
    const ours = packagesOf(await filesLoadedBy(how, join(built, `index.${ending}`)));
    const allowed = packagesOf(await filesLoadedBy(how, ...LOADED_AT_IMPORT));
    expect(ours.filter((name) => !allowed.includes(name))).toEqual([]);
    expect(ours.filter((name) => LOADED_LATER.includes(name))).toEqual([]);
  });

  test('leaves out the parts of its own that are needed later, if ever', async () => {
    const files = await filesLoadedBy(how, join(built, `index.${ending}`));
    const own = files.filter((url) => url.includes('tollhouse-built-')).map((url) => url.split('/').at(-1) ?? '');
    expect(own).toContain(`index.${ending}`);
    expect(own.filter((name) => PARTS_LOADED_LATER.some((part) => name.startsWith(part)))).toEqual([]);
  });

  test('of tollhouse/webhooks loads under fifteen modules, without Express and the chain', async () => {
    const files = await filesLoadedBy(how, join(built, `webhooks.${ending}`));
    expect(packagesOf(files).filter((name) => /^(@solana|express|zod|undici)/.test(name))).toEqual([]);
    expect(files.length).toBeGreaterThan(2);
    expect(files.length).toBeLessThan(15);
  });

  test('and what it left out is there when it is used', async () => {
    const entries = ['index', 'sandbox'].map((name) => join(built, `${name}.${ending}`));
    expect(await evaluate(USE, how, ...entries)).toEqual({
      offered: 402,
      described: true,
      created: 200,
      proof: 'refused',
    });
  });
});

/**
 * Asks for what was not loaded with the package after its files are gone, as npm takes them away for those of another version: once a
 * service that nobody has asked for anything has run for a while.
 */
const REPLACED = `
  const { Session } = require('node:inspector');
  const session = new Session();
  session.connect();
  const loaded = [];
  session.on('Debugger.scriptParsed', ({ params }) => loaded.push(params.url.split('/').at(-1)));
  session.post('Debugger.enable');
  const { setTimeout: pause } = require('node:timers/promises');
  const express = require('express');
  const { readdirSync, rmSync } = require('node:fs');
  const { join } = require('node:path');
  const [how, folder, ...parts] = process.argv.slice(2);
  const ending = how === 'import' ? '.js' : '.cjs';
  const load = (name) => how === 'import' ? import(join(folder, name + ending)) : require(join(folder, name + ending));
  (async () => {
    const { createFacilitator, createRouter } = await load('index');
    const { startSandbox } = await load('sandbox');
    const { network, rpcUrl, wsUrl, createWallet, close } = await startSandbox();
    const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: await createWallet({ sol: '1' }) });
    const app = express();
    app.use(createRouter({ facilitator, page: {} }));
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = 'http://127.0.0.1:' + server.address().port;
    await fetch(url + '/livez');
    while (!parts.every((part) => loaded.some((name) => name.startsWith(part)))) await pause(20);
    for (const name of readdirSync(folder)) if (name.endsWith(ending)) rmSync(join(folder, name));
    const statuses = [];
    for (const path of ['/openapi.json', '/docs']) statuses.push((await fetch(url + path)).status);
    const recipient = (await createWallet({ usdc: '0' })).publicKey.toBase58();
    const payer = (await createWallet({ usdc: '1' })).publicKey.toBase58();
    const body = JSON.stringify({ amount: '0.5', token: 'USDC', recipient, payer });
    const posted = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const created = await fetch(url + '/create-payment', posted);
    const { payment_id } = await created.json();
    statuses.push(created.status, (await fetch(url + '/payments/' + payment_id)).status);
    await facilitator.check({ payTo: recipient, price: '$0.01' });
    console.log(JSON.stringify(statuses));
    server.closeAllConnections();
    server.close();
    await facilitator.close();
    await close();
  })();
`;

test.each(FORMATS)(
  'a service loaded by $how does what it has not done before when its files have been replaced',
  async ({ how }) => {
    const copy = `${built}-${how}`;
    cpSync(built, copy, { recursive: true });
    try {
      expect(await evaluate(REPLACED, how, copy, ...PARTS_LOADED_LATER.slice(2))).toEqual([200, 200, 200, 200]);
    } finally {
      rmSync(copy, { recursive: true });
    }
  },
);

test('nothing that is built imports the program: loading it runs it', () => {
  const files = readdirSync(built).filter((name) => !name.startsWith('program-'));
  expect(files).toEqual(expect.arrayContaining(['index.js', 'index.cjs', 'cli.js']));
  const importers = files.filter((name) => /\.\/cli\.c?js["']/.test(readFileSync(join(built, name), 'utf8')));
  expect(importers).toEqual([]);
});

test('the program loads no chain and no server before a command asks for them', async () => {
  const program = readdirSync(built).filter((name) => /^run-cli-.+\.js$/.test(name));
  expect(program).toHaveLength(1);
  const files = await filesLoadedBy('import', join(built, program[0] ?? ''));
  expect(packagesOf(files).filter((name) => /^(@solana|@x402|express|undici|ws|zod)/.test(name))).toEqual([]);
});

/** A call that is chained over many lines in the source is one line here; the longest makes a table. */
const MAX_LINE = 1_100;

test('the line of an error can be read: no file that is built is squeezed into a few lines', () => {
  const files = readdirSync(built).filter((name) => /\.c?js$/.test(name) && !name.startsWith('program-'));
  const long = files.flatMap((name) =>
    readFileSync(join(built, name), 'utf8')
      .split('\n')
      .filter((line) => line.length > MAX_LINE && !/^(import|export) \{/.test(line))
      // What is sent to browsers is data here.
      .filter((line) => !/^const [A-Z]+_SCRIPT = /.test(line))
      .map((line) => `${name}: ${line.slice(0, 80)}`),
  );
  expect(long).toEqual([]);
});

test('an error at the start of an app is told with its own line and names, not with the whole package', async () => {
  const file = join(built, 'program-start.mjs');
  writeFileSync(
    file,
    `import { createFacilitator } from './index.js'; createFacilitator({ network: 'solana', keypair: 'x' });`,
  );
  const { stderr } = await run(process.execPath, [file], { cwd: ROOT }).catch((error: { stderr: string }) => error);
  expect(stderr).toMatch(
    /TollhouseError: createFacilitator: .+\n +at badOption .+\.js:\d+:\d+\)\n +at readSecret .+\n +at readKeypair /,
  );
  expect(stderr.length).toBeLessThan(3_000);
});
