// Prices for several routes in one map, as @x402/express has it. Starts a local Solana chain and the app on it, and prints the
// line that pays.
//
//   npx unrun examples/route-map.ts
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createFacilitator, paywall } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, createWallet } = await startSandbox();
const feePayer = await createWallet({ sol: '1' });
const seller = await createWallet({ usdc: '0' });
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: feePayer });

const prices = {
  'GET /weather': { price: '$0.01', description: 'The weather of today' },
  'GET /archive/latest': '$0.10', // particular routes first: the first that matches counts
  'GET /archive/*': '$0.02',
};

const app = express();
app.use(paywall(prices, { facilitator, payTo: seller.publicKey.toBase58() }));
app.get('/weather', (req, res) => {
  res.json({ weather: 'sunny', paidBy: req.payment?.payer });
});
app.get('/archive/:day', (req, res) => {
  res.json({ day: req.params.day, weather: 'rain' });
});

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`npx tollhouse pay http://127.0.0.1:${port}/weather --demo --rpc ${rpcUrl}`);
});
