// Your own facilitator for a server that somebody else wrote: the official x402 middleware settles through Tollhouse,
// over HTTP here. In one process, hand `facilitator` itself to x402ResourceServer instead of the HTTP client.
//
//   npx unrun examples/own-facilitator.ts
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { HTTPFacilitatorClient } from '@x402/core/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import express from 'express';
import { createFacilitator, createRouter } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, createWallet } = await startSandbox();
const feePayer = await createWallet({ sol: '1' });
const seller = await createWallet({ usdc: '0' });

const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: feePayer });
const toll = express().use(createRouter({ facilitator })).listen(0, '127.0.0.1');
await once(toll, 'listening');
const url = `http://127.0.0.1:${(toll.address() as AddressInfo).port}`;

const caip2 = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const seller402 = new x402ResourceServer(new HTTPFacilitatorClient({ url })).register(caip2, new ExactSvmScheme());
const accepts = { scheme: 'exact', price: '$0.01', network: caip2, payTo: seller.publicKey.toBase58() } as const;

const app = express();
app.use(paymentMiddleware({ 'GET /weather': { accepts, description: 'The weather' } }, seller402));
app.get('/weather', (_req, res) => {
  res.json({ weather: 'sunny' });
});

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`npx tollhouse pay http://127.0.0.1:${port}/weather --demo --rpc ${rpcUrl}`);
});
