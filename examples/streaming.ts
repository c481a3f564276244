// A stream for money: with settle: 'before' the payment lands first and nothing of the response is held back.
//
//   npx unrun examples/streaming.ts

import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import express from 'express';
import { createFacilitator, requirePayment } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, createWallet } = await startSandbox();
const feePayer = await createWallet({ sol: '1' });
const seller = await createWallet({ usdc: '0' });
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: feePayer });

const app = express();
const payTo = seller.publicKey.toBase58();
app.get('/ticks', requirePayment({ facilitator, price: '$0.05', payTo, settle: 'before' }), async (_req, res) => {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (let tick = 1; tick <= 5 && !res.destroyed; tick += 1) {
    res.write(`data: ${tick}\n\n`);
    await pause(200);
  }
  res.end();
});

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`npx tollhouse pay http://127.0.0.1:${port}/ticks --demo --rpc ${rpcUrl}`);
});
