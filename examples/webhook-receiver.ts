// A receiver of webhooks: it believes what is signed, and does each thing once although it may be told twice.
//
//   WEBHOOK_SECRET=whsec_… npx unrun examples/webhook-receiver.ts
//
// The secret is shown when the webhook is made. To try it, a secret of your own and the events as they come will do:
//
//   export WEBHOOK_SECRET=whsec_$(openssl rand -base64 32)
//   npx tollhouse webhooks listen --forward http://127.0.0.1:3000/hook
import type { AddressInfo } from 'node:net';
import express from 'express';
import { verifyWebhook } from 'tollhouse';

const secret = process.env.WEBHOOK_SECRET;
if (!secret) throw new Error('set WEBHOOK_SECRET; npx tollhouse webhooks create tells it');

const seen = new Set<string>(); // in a database where it shall last

const app = express();
app.post('/hook', express.raw({ type: () => true }), (req, res) => {
  const check = verifyWebhook(req, secret);
  if (!check.ok) {
    res.status(400).send(check.reason);
    return;
  }
  const { id, type, data } = check.event;
  if (!seen.has(id)) console.log(type, JSON.stringify(data));
  seen.add(id);
  res.status(204).end();
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`);
});
