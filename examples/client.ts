// The other side: a program that buys, with the official client of x402. It pays for a report, and signs in where its wallet is
// asked for. Starts a local Solana chain and a shop on it, buys, and ends.
//
//   npx unrun examples/client.ts
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { createSIWxClientExtension, type SIWxSigner } from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import express from 'express';
import { anyOf, createFacilitator, requirePayment, requireTokenBalance } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, createWallet, close } = await startSandbox();
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: await createWallet({ sol: '1' }) });
const payTo = (await createWallet({ usdc: '0' })).publicKey.toBase58();
const holders = requireTokenBalance({ facilitator, mint: 'USDC', minBalance: 5 });
const app = express();
app.get('/report', requirePayment({ facilitator, price: '$0.01', payTo }), (_req, res) => void res.send('Up again.'));
app.get(
  '/essay',
  anyOf(holders, requirePayment({ facilitator, price: '$1', payTo })),
  (_req, res) => void res.send('Long.'),
);
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const shop = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

// From here on it is what a buyer writes. His wallet holds tokens and no SOL.
const wallet = await createWallet({ usdc: '20' });
const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
const client = new x402Client()
  .register('solana:*', new ExactSvmScheme(signer, { rpcUrl }))
  // kit's signers do sign in, though the type does not name them.
  .registerExtension(createSIWxClientExtension({ signers: [signer as object as SIWxSigner] }));
const fetchWithPayment = wrapFetchWithPayment(fetch, client);

for (const path of ['/report', '/essay']) {
  const response = await fetchWithPayment(`${shop}${path}`);
  const receipt = response.headers.has('PAYMENT-RESPONSE') ? 'paid' : 'let in';
  console.log(`${path}: ${response.status} ${await response.text()} (${receipt})`);
}

server.close();
await facilitator.close();
await close();
