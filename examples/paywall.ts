// A paywall on one route of an app. Starts a local Solana chain and the app on it, and prints the line that pays.
//
//   npx unrun examples/paywall.ts
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createFacilitator, requirePayment } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, createWallet } = await startSandbox();
const feePayer = await createWallet({ sol: '1' });
const seller = await createWallet({ usdc: '0' });
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: feePayer });

const app = express();
const gate = requirePayment({ facilitator, price: '$0.01', payTo: seller.publicKey.toBase58() });
app.get('/report', gate, (req, res) => {
  res.json({ report: 'The numbers are up.', paidBy: req.payment?.payer });
});

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`npx tollhouse pay http://127.0.0.1:${port}/report --demo --rpc ${rpcUrl}`);
});
