// A test of an app of your own, with real payments on a chain that takes a second to start and some 60 ms to settle. Here with
// Node's own runner; Jest and Vitest have the same in beforeAll and afterAll.
//
//   npx unrun examples/test-your-app.ts
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import express from 'express';
import { createFacilitator, type Facilitator, requirePayment } from 'tollhouse';
import { type Sandbox, startSandbox } from 'tollhouse/sandbox';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

/** The app: in your own project it is imported. */
function createApp(facilitator: Facilitator, payTo: string) {
  const app = express();
  app.get('/report', requirePayment({ facilitator, price: '$0.01', payTo }), (_req, res) => void res.send('Up again.'));
  return app;
}

let sandbox: Sandbox;
let stop: () => Promise<void>;
let url: string;
let payTo: string;

before(async () => {
  sandbox = await startSandbox({ slotMs: 20 }); // Solana's own 400 ms would only make the tests slow
  const { network, rpcUrl, wsUrl } = sandbox;
  const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: await sandbox.createWallet({ sol: '1' }) });
  payTo = (await sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
  const server = createApp(facilitator, payTo).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stop = async () => {
    server.closeAllConnections();
    server.close();
    await facilitator.close();
    await sandbox.close();
  };
});
after(() => stop());

test('whoever does not pay is told the price', async () => {
  const response = await fetch(`${url}/report`);
  assert.equal(response.status, 402);
});

test('whoever pays gets the report, and the seller a cent', async () => {
  const wallet = await sandbox.createWallet({ usdc: '1' });
  const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
  const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: sandbox.rpcUrl }));
  const response = await wrapFetchWithPayment(fetch, client)(`${url}/report`);
  assert.equal(await response.text(), 'Up again.');
  assert.equal(sandbox.tokenBalance(payTo, USDC), 10_000n);
});
