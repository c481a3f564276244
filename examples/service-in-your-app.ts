// The whole facilitator mounted in an app that is there already: payments, verification, token gate, sign-in.
//
//   npx unrun examples/service-in-your-app.ts
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createFacilitator, createIdentity, createRouter, requirePayment } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, tokens, createWallet } = await startSandbox();
const feePayer = await createWallet({ sol: '1' });
const seller = await createWallet({ usdc: '0' });
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, tokens, keypair: feePayer });
const identity = createIdentity({ facilitator, jwtSecret: 'a secret of thirty-two bytes or more' });

const app = express();
app.get('/', (_req, res) => {
  res.send('An app of its own, with a facilitator under /pay.');
});
app.get('/report', requirePayment({ facilitator, price: '$0.01', payTo: seller.publicKey.toBase58() }), (_req, res) => {
  res.json({ report: 'The numbers are up.' });
});
app.use('/pay', createRouter({ facilitator, identity }));

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  console.log(`curl ${url}/pay/health`);
  console.log(
    `npx tollhouse create-payment --amount 1 --token USDC --recipient ${seller.publicKey} --demo --server ${url}/pay`,
  );
  console.log(`npx tollhouse pay ${url}/report --demo --rpc ${rpcUrl}`);
});
