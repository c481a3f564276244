// A test of an app of your own, with real payments and sign-ins on a chain that takes a second to start and some 60 ms to settle. Here
// with Node's own runner and supertest; Jest and Vitest have the same in beforeAll and afterAll.
//
//   npx unrun examples/test-your-app.ts
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import express from 'express';
import request from 'supertest';
import { createFacilitator, type Facilitator, requirePayment, requireTier, requireTokenBalance } from 'tollhouse';
import { type Sandbox, startSandbox } from 'tollhouse/sandbox';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

/** The app: in your own project it is imported. */
function createApp(facilitator: Facilitator, payTo: string, mint: string) {
  const app = express();
  app.get('/report', requirePayment({ facilitator, price: '$0.01', payTo }), (_req, res) => void res.send('Up again.'));
  app.get('/gold', requireTier({ facilitator, tier: 'gold' }), (req, res) => void res.json(req.tier));
  app.get('/club', requireTokenBalance({ facilitator, mint, minBalance: 2 }), (_req, res) => void res.send('Come in.'));
  return app;
}

let sandbox: Sandbox;
let facilitator: Facilitator;
let app: ReturnType<typeof createApp>;
let payTo: string;
let mint: string;

before(async () => {
  sandbox = await startSandbox({ slotMs: 20 }); // Solana's own 400 ms would only make the tests slow
  const { network, rpcUrl, wsUrl } = sandbox;
  facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: await sandbox.createWallet({ sol: '1' }) });
  payTo = (await sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
  mint = sandbox.createMint({ decimals: 0 }).mint; // a token of your own
  app = createApp(facilitator, payTo, mint);
});
after(async () => {
  await facilitator.close();
  await sandbox.close();
});

test('whoever does not pay is told the price', async () => {
  await request(app).get('/report').expect(402);
});

test('whoever pays gets the report, and the seller a cent', async () => {
  const wallet = await sandbox.createWallet({ usdc: '1' });
  const unpaid = await request(app).get('/report');
  const paid = await request(app).get('/report').set(sandbox.paymentHeaders(wallet, unpaid));
  assert.equal(paid.text, 'Up again.');
  assert.equal(sandbox.tokenBalance(payTo, USDC), 10_000n);
});

test('a member is let in, another wallet is not', async () => {
  const [member, stranger] = [await sandbox.createWallet({ usdc: '10000' }), await sandbox.createWallet({ usdc: '5' })];
  for (const [wallet, status] of [
    [member, 200],
    [stranger, 403],
  ] as const) {
    const asked = await request(app).get('/gold');
    await request(app).get('/gold').set(sandbox.signInHeaders(wallet, asked)).expect(status);
  }
});

test('who holds two of a token of your own is let in, by fetch as well', async () => {
  const holder = await sandbox.createWallet();
  sandbox.fundToken(holder.publicKey, mint, 2n); // atomic units
  const asked = await request(app).get('/club');
  await request(app).get('/club').set(sandbox.signInHeaders(holder, asked)).expect(200, 'Come in.');

  const server = app.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const response = await sandbox.fetchAs(holder)(`http://localhost:${port}/club`); // signs in, and pays where that is asked for
  assert.equal(response.status, 200);
  server.closeAllConnections();
  server.close();
});
