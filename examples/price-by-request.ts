// A price that depends on what is asked for: a tenth of a cent for each word. The payer may choose USDC or USDT.
//
//   npx unrun examples/price-by-request.ts
import type { AddressInfo } from 'node:net';
import express, { type Request } from 'express';
import { createFacilitator, requirePayment } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, tokens, createWallet } = await startSandbox();
const feePayer = await createWallet({ sol: '1' });
const seller = await createWallet({ usdc: '0', usdt: '0' });
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, tokens, keypair: feePayer });

/** The same request always has the same price: it is asked once to say it, and once more when it is paid. */
function priceOf(req: Request): string[] {
  const words = String(req.query.text ?? '')
    .split(/\s+/)
    .filter(Boolean).length;
  const amount = `0.${String(Math.max(1, Math.min(words, 999))).padStart(3, '0')}`;
  return [`${amount} USDC`, `${amount} USDT`];
}

const app = express();
const gate = requirePayment({ facilitator, price: priceOf, payTo: seller.publicKey.toBase58() });
app.get('/shout', gate, (req, res) => {
  res.type('text/plain').send(String(req.query.text ?? '').toUpperCase());
});

const server = app.listen(Number(process.env.PORT ?? 3000), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`npx tollhouse pay "http://127.0.0.1:${port}/shout?text=hello+there" --demo --rpc ${rpcUrl}`);
});
