// Sells an API that runs already, by the call: a gateway in front of it checks keys and takes the money, and the API stays as
// it is. Starts a local Solana chain, the API and the gateway, and prints the lines that call it.
//
//   npx unrun examples/sell-an-api.ts
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createFacilitator, createGateway, createIdentity, createRouter, openStorage } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

// The API that runs already. It knows nothing of keys and payments.
const api = createServer((req, res) => {
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify({ asked: req.url, weather: 'sunny', paidBy: req.headers['x-tollhouse-payer'] }));
});
await once(api.listen(0, '127.0.0.1'), 'listening');

const { network, rpcUrl, wsUrl, createWallet, demoWallets } = await startSandbox();
const feePayer = await createWallet({ sol: '1' });
const seller = await createWallet({ usdc: '0' });
const storage = await openStorage('memory:'); // 'sqlite:./data/tollhouse.db' or 'postgres://…' where it shall last
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: feePayer, storage });
const identity = createIdentity({ facilitator, jwtSecret: 'a secret of thirty-two bytes or more' });
const gateway = createGateway({ facilitator, allowPrivateNetworks: ['127.0.0.0/8'] });
gateway.start();

const app = express();
app.use(createRouter({ facilitator, identity, gateway }));

// What "tollhouse projects create" and "tollhouse keys create" do over HTTP.
const { port: apiPort } = api.address() as AddressInfo;
await gateway.projects.create(seller.publicKey.toBase58(), {
  slug: 'weather',
  name: 'Weather',
  upstream: { url: `http://127.0.0.1:${apiPort}` },
  pricing: { amount: '0.01', token: 'USDC' },
  visibility: 'listed',
});
const caller = demoWallets[0]?.publicKey.toBase58() ?? '';
const { key, secret } = await gateway.keys.generate(caller, { name: 'example' });

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const headers = `-H "X-Service-Key: ${key.publicKey}" -H "X-Service-Secret: ${secret}"`;
  console.log(`curl ${url}/api/v1/marketplace`);
  console.log(`curl ${url}/v1/weather/today ${headers}`);
  console.log(`npx tollhouse pay ${url}/v1/weather/today --demo --rpc ${rpcUrl} ${headers}`);
});
