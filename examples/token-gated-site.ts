// A site for the holders of a token. Whoever holds a hundred comes in by signing in with the wallet; everybody else pays.
//
//   npx unrun examples/token-gated-site.ts
import type { AddressInfo } from 'node:net';
import express from 'express';
import { anyOf, createFacilitator, createIdentity, createRouter, requirePayment, requireTokenBalance } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, tokens, createWallet } = await startSandbox();
const feePayer = await createWallet({ sol: '1' });
const seller = await createWallet({ usdc: '0' });
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, tokens, keypair: feePayer });

const identity = createIdentity({ network, jwtSecret: 'a secret of thirty-two bytes or more' });
const holders = requireTokenBalance({ facilitator, identity, mint: 'PYUSD', minBalance: 100 });
const everybody = requirePayment({ facilitator, price: '$0.25', payTo: seller.publicKey.toBase58() });

const app = express();
app.use('/pay', createRouter({ facilitator, identity })); // /pay/api/v1/auth signs wallets in, for an access token
app.get('/club', holders, (req, res) => {
  res.send(`Welcome, ${req.wallet?.address}.`);
});
app.get('/essay', anyOf(holders, everybody), (req, res) => {
  res.send(req.wallet === undefined ? 'An essay, paid for.' : 'An essay, free for members.');
});

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`curl -i http://127.0.0.1:${port}/club`);
  console.log(`npx tollhouse pay http://127.0.0.1:${port}/essay --demo --rpc ${rpcUrl}`);
});
