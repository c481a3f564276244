import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from '../helpers/processes/built-package.js';

const ROOT = join(__dirname, '../..');
const run = promisify(execFile);

/** Uses what makes requests, opens stores and shows pages, and tells what the process has lost by it, during and after. */
const PROGRAM = `
  const { takeState, changesSince } = require(${JSON.stringify(join(ROOT, 'test/helpers/processes/process-state.cjs'))});
  const express = require('express');
  const { execFile } = require('node:child_process');
  const { rmSync } = require('node:fs');
  const { createServer, request } = require('node:http');
  const { join } = require('node:path');
  const { promisify } = require('node:util');
  const [how, folder] = process.argv.slice(2);
  const ending = how === 'import' ? 'js' : 'cjs';
  const load = (name) => how === 'import' ? import(join(folder, name + '.js')) : require(join(folder, name + '.cjs'));
  const listen = (handler) => new Promise((resolve) => {
    const server = createServer(handler).listen(0, '127.0.0.1', () => resolve([server, 'http://127.0.0.1:' + server.address().port]));
  });
  // Not by fetch: that loads parts of Node, which another library may then find as they should be.
  const get = (url, headers = {}) => new Promise((resolve, reject) => request(url, { headers, agent: false }, (answer) => {
    let text = '';
    answer.on('data', (chunk) => { text += chunk; }).on('end', () => resolve({ status: answer.statusCode, text }));
  }).on('error', reject).end());

  async function main() {
    const upstream = await listen((req, res) => res.end('weather'));
    // From Node 22 on this alone loads Node's own undici.
    if (how === 'import') await import('node:http');
    const before = takeState();
    const { createFacilitator, createGateway, createIdentity, createRouter, openStorage, requirePayment } = await load('index');
    const { startSandbox } = await load('sandbox');
    const imported = changesSince(before);
    const sandbox = await startSandbox();
    const { network, rpcUrl, wsUrl } = sandbox;
    const file = join(folder, 'books-' + process.pid + '.db');
    const storage = await openStorage('sqlite:' + file);
    const { ledger, idempotency, counters } = storage;
    const [keypair, seller] = [await sandbox.createWallet({ sol: '1' }), await sandbox.createWallet({ usdc: '0' })];
    const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair, ledger, idempotency, counters });
    const identity = createIdentity({ network, counters, jwtSecret: 'a secret of thirty-two bytes or more' });
    const gateway = createGateway({ facilitator, storage, allowPrivateNetworks: ['127.0.0.0/8'] });
    gateway.start();
    const app = express();
    app.get('/paid', requirePayment({ facilitator, price: '$0.01', payTo: seller.publicKey.toBase58() }), (req, res) => res.end('it'));
    app.use(createRouter({ facilitator, identity, gateway, counters }));
    const [server, url] = await listen(app);
    const page = await get(url + '/paid', { accept: 'text/html', 'user-agent': 'Mozilla/5.0' });
    await gateway.projects.create(seller.publicKey.toBase58(), {
      slug: 'weather', name: 'Weather', upstream: { url: upstream[1] }, pricing: { amount: '0.01', token: 'USDC' },
    });
    const { key, secret } = await gateway.keys.generate(sandbox.demoWallets[0].publicKey.toBase58(), { name: 'test' });
    const named = ['-H', 'X-Service-Key: ' + key.publicKey, '-H', 'X-Service-Secret: ' + secret];
    const pay = (path, ...more) => promisify(execFile)(process.execPath,
      [join(folder, 'cli.js'), 'pay', url + path, '--demo', '--rpc', rpcUrl, ...more]).then(({ stderr }) => stderr.includes('answered   200'));
    const paid = [await pay('/paid'), await pay('/v1/weather/today', ...named)];
    const used = changesSince(before);

    const length = (text) => ({ method: 'POST', body: text, headers: { 'content-length': String(text.length), 'content-type': 'application/json' } });
    const call = { jsonrpc: '2.0', id: 1, method: 'getHealth' };
    const fetched = await (await fetch(rpcUrl, length(JSON.stringify(call)))).json();
    const { createSolanaRpc } = require('@solana/kit');
    const slot = await createSolanaRpc(rpcUrl).getSlot().send();

    for (const it of [server, upstream[0]]) { it.closeAllConnections(); it.close(); }
    await gateway.close();
    await facilitator.close();
    await storage.close();
    await sandbox.close();
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
    console.log(JSON.stringify({
      imported, used, page: [page.status, page.text.startsWith('<!doctype html')], paid, fetched: fetched.result, kit: typeof slot,
    }));
  }
  main().catch((error) => { console.error(error); process.exitCode = 1; });
`;

/** The configuration and the registry of zod, which its copies in a process share. Nobody else has these names. */
const OF_ZOD = ['globalThis.__zod_globalConfig', 'globalThis.__zod_globalRegistry'];

let built = '';

beforeAll(async () => {
  built = await buildPackage();
});

afterAll(() => rmSync(built, { recursive: true, force: true }));

test.each(['import', 'require'])(
  'by %s, the package changes nothing that other code of the process shares',
  async (how) => {
    const file = join(built, `program-${how}.cjs`);
    writeFileSync(file, PROGRAM);
    const { stdout } = await run(process.execPath, [file, how, built], { cwd: ROOT });
    expect(JSON.parse(stdout)).toEqual({
      imported: OF_ZOD,
      used: OF_ZOD,
      page: [402, true],
      paid: [true, true],
      fetched: 'ok',
      kit: 'bigint',
    });
  },
);
