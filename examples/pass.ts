// Pay once, use many: a payment buys a pack of requests, which is used up by signing in, by a token and, as
// browsers do, by a cookie. Starts a local Solana chain and a shop on it, buys, and ends.
//
//   npx unrun examples/pass.ts
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { createSIWxClientExtension, type SIWxSigner } from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import express from 'express';
import { createFacilitator, requirePayment } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, createWallet, close } = await startSandbox();
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: await createWallet({ sol: '1' }) });
const payTo = (await createWallet({ usdc: '0' })).publicKey.toBase58();
const app = express();
// 0.0001 USDC a request, sold by the hundred: less would be paid for a single one than the chain costs its seller.
const gate = requirePayment({ facilitator, payTo, price: '$0.01', pass: { uses: 100, for: '30d', cookie: true } });
app.get('/quote/:symbol', gate, (req, res) => void res.send(`${req.params.symbol} is up`));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const shop = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

// From here on it is what a buyer writes.
const wallet = await createWallet({ usdc: '20' });
const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
const client = new x402Client()
  .register('solana:*', new ExactSvmScheme(signer, { rpcUrl }))
  .registerExtension(createSIWxClientExtension({ signers: [signer as object as SIWxSigner] }));
const fetchWithPayment = wrapFetchWithPayment(fetch, client);

async function show(how: string, response: Response): Promise<void> {
  console.log(`${how}: ${await response.text()}, ${response.headers.get('Access-Pass-Remaining')} left`);
}

const paid = await fetchWithPayment(`${shop}/quote/SOL`);
await show('paid', paid);
// The official client signs in by itself where it has paid before; anything that sends a header does with the token.
await show('signed in', await fetchWithPayment(`${shop}/quote/BTC`));
const token = paid.headers.get('Access-Pass') ?? '';
await show('by token', await fetch(`${shop}/quote/ETH`, { headers: { 'Access-Pass': token } }));
const [cookie = ''] = paid.headers.getSetCookie().map((it) => it.split(';', 1)[0]);
await show('by cookie', await fetch(`${shop}/quote/DOT`, { headers: { Cookie: cookie ?? '' } }));

server.close();
await facilitator.close();
await close();
