// Lets the clients that others have published pay for what a seller sells: each in a process of its own, and in that of the
// server, loaded after it has asked the chain (the official ones of today also before, in test/interop). Run by .ci/run, after a build: node test/package/clients.mjs
//
// They are installed into a project of their own, in the versions that their users have: together they bring hundreds of
// packages, another @solana/kit and another zod, which nobody needs who works on this package. So this needs the network,
// and is no part of `npm test`, where the official clients of today pay (test/interop).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const PACKAGES = [
  'x402-fetch@1.2.0',
  'x402@1.2.0',
  '@faremeter/fetch@0.22.0',
  '@faremeter/payment-solana@0.22.0',
  '@faremeter/wallet-solana@0.22.0',
  'x402-solana@2.0.4',
  '@payai/x402@2.4.1',
  '@x402/core@2.27.0',
];

/** What each client reads its receipt from. */
const CLIENTS = {
  'x402-fetch': 'x-payment-response',
  faremeter: 'payment-response',
  payai: 'payment-response',
};

const work = mkdtempSync(join(tmpdir(), 'tollhouse-clients-'));
try {
  install();
  for (const [client, receipt] of Object.entries(CLIENTS)) {
    for (const first of ['apart', 'server']) {
      checkPaid(client, first, receipt);
      console.log(
        `${client} pays: ${first === 'apart' ? 'in a process of its own' : 'beside the server, loaded after it'}`,
      );
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

function install() {
  const overrides = {
    // The newest one of the first is for Node 22, and the other, 500 MB, is for a page that no client loads.
    commander: '14.0.3',
    wagmi: 'file:./no-wagmi',
  };
  mkdirSync(join(work, 'no-wagmi'));
  writeFileSync(join(work, 'no-wagmi/package.json'), JSON.stringify({ name: 'wagmi', version: '2.19.5' }));
  const manifest = { name: 'clients', version: '1.0.0', private: true, type: 'module', overrides };
  writeFileSync(join(work, 'package.json'), JSON.stringify(manifest));
  const flags = [
    '--engine-strict',
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  execFileSync('npm', ['install', ...PACKAGES, ...flags], { cwd: work, stdio: 'inherit' });
  cpSync(join(ROOT, 'test/interop/clients'), work, { recursive: true });
}

function checkPaid(client, first, receipt) {
  const express = join(ROOT, 'node_modules/express/index.js');
  const order = { build: join(ROOT, 'dist'), express, client: `./${client}.mjs`, first };
  const printed = execFileSync(process.execPath, ['beside-server.mjs', JSON.stringify(order)], {
    cwd: work,
    encoding: 'utf8',
  });
  // Some of what clients load prints lines of its own.
  const { answers, body, cost, spent, earned } = JSON.parse(printed.trim().split('\n').at(-1));
  const served = { status: 200, text: body, receipts: [receipt] };
  assert.deepEqual(answers, [served, served, served], `${client}, ${first}: every call is served`);
  assert.deepEqual([spent, earned], [cost, cost], `${client}, ${first}: the money moved, and no more`);
}
