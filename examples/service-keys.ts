// A route of your own for whoever has a service key, without a payment. Starts a local Solana chain and the app, and prints the
// line that calls it.
//
//   npx unrun examples/service-keys.ts
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createFacilitator, createGateway, openStorage, serviceKeyAuth } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, createWallet } = await startSandbox();
const feePayer = await createWallet({ sol: '1' });
const customer = await createWallet();
const storage = await openStorage('memory:');
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: feePayer, ledger: storage.ledger });
const gateway = createGateway({ facilitator, storage });

const app = express();
app.get('/numbers', serviceKeyAuth({ gateway }), (req, res) => {
  res.json({ numbers: [1, 2, 3], calledBy: req.serviceKey?.owner });
});

const { key, secret } = await gateway.keys.generate(customer.publicKey.toBase58(), { name: 'example' });
const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  const headers = `-H "X-Service-Key: ${key.publicKey}" -H "X-Service-Secret: ${secret}"`;
  console.log(`curl http://127.0.0.1:${port}/numbers ${headers}`);
});
