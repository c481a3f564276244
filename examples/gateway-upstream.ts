// An API that serves the gateway and nobody else: it checks that a call is signed by the gateway, and learns who has paid.
//
//   GATEWAY_SECRET=gws_… npx unrun examples/gateway-upstream.ts
//
// The secret is that of the project, shown when it is made:
//
//   npx tollhouse projects create --slug echo --upstream http://127.0.0.1:3000 --price "0.01 USDC"
import type { AddressInfo } from 'node:net';
import express from 'express';
import { verifyGateway } from 'tollhouse';

const secret = process.env.GATEWAY_SECRET;
if (!secret) throw new Error('set GATEWAY_SECRET; npx tollhouse projects show <slug> tells it');

const app = express();
app.use(express.raw({ type: () => true, limit: '10mb' }), (req, res) => {
  const call = verifyGateway(req, secret, { body: req.body });
  if (call.ok) res.json({ asked: req.originalUrl, paidBy: call.payer, amount: call.amount, token: call.token });
  else res.status(403).json({ error: call.reason });
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
