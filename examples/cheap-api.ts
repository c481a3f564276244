// An API at $0.0001 a call, which is less than a payment on the chain costs its seller: so a payment buys many calls. It sells credit,
// packs of a hundred and hours. Starts a local Solana chain and the API on it; a buyer pays once and calls with the token. Ends.
//
//   npx unrun examples/cheap-api.ts
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import express from 'express';
import { chargeCredit, createFacilitator, requirePayment } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, createWallet, close } = await startSandbox();
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: await createWallet({ sol: '1' }) });
const payTo = (await createWallet({ usdc: '0' })).publicKey.toBase58();

// A call takes $0.0001 of credit at most, and less where the handler says so. Clients that do not choose buy what stands first.
const credit = { price: '$0.10', pass: { credit: true, cost: '$0.0001' } };
const pack = { price: '$0.012', pass: { uses: 100 } };
const hour = { price: '$0.05', pass: { for: '1h' } };
const app = express();
app.get('/quote/:symbol', requirePayment({ facilitator, payTo, price: [credit, pack, hour] }), async (req, res) => {
  // Half a call for what is remembered; 1 is a millionth of a dollar.
  if (req.params.symbol === 'SOL') await chargeCredit(req, 50n);
  res.send(`${req.params.symbol} is up`);
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

// From here on it is what a buyer writes.
const wallet = await createWallet({ usdc: '20' });
const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
const scheme = new ExactSvmScheme(signer, { rpcUrl });

/** Pays where there is no token yet, or it is good for nothing any more. */
function buyer(client: x402Client) {
  const pay = wrapFetchWithPayment(fetch, client.register('solana:*', scheme));
  let token: string | null = null;
  return async (symbol: string) => {
    const headers: Record<string, string> = token === null ? {} : { 'Access-Pass': token };
    const response = await pay(`${api}/quote/${symbol}`, { headers });
    token = response.headers.get('Access-Pass') ?? token;
    const paid = response.headers.has('PAYMENT-RESPONSE') ? ', paid on the chain' : '';
    console.log(`${await response.text()}, ${response.headers.get('Access-Pass-Remaining')} left${paid}`);
  };
}

const byCredit = buyer(new x402Client());
for (const symbol of ['BTC', 'ETH', 'SOL']) await byCredit(symbol);
const byPack = buyer(new x402Client().registerPolicy((_version, offers) => offers.slice(1, 2)));
for (const symbol of ['BTC', 'ETH', 'SOL']) await byPack(symbol);

server.close();
await facilitator.close();
await close();
