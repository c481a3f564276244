// A magazine for people with browsers: a payment buys a day, and from then on reloads, links and images are covered by a cookie.
// Starts a local Solana chain and the magazine on it, and prints its address, to be opened in a browser.
//
//   npx unrun examples/magazine.ts
import type { AddressInfo } from 'node:net';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { x402Client, x402HTTPClient } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import express from 'express';
import { createFacilitator, requirePayment } from 'tollhouse';
import { startSandbox } from 'tollhouse/sandbox';

const { network, rpcUrl, wsUrl, createWallet } = await startSandbox();
const facilitator = createFacilitator({ network, rpcUrl, wsUrl, keypair: await createWallet({ sol: '1' }) });
const payTo = (await createWallet({ usdc: '0' })).publicKey.toBase58();
const day = { for: '24h', group: 'magazine', cookie: true };
const gate = requirePayment({ facilitator, payTo, price: '$0.25', pass: day });

const app = express();
app.get('/', (_req, res) => {
  res.type('html').send(`<!doctype html><title>The Magazine</title>
    <button>A day of The Magazine for $0.25</button>
    <script type="module">
      document.querySelector('button').onclick = async () => {
        const asked = await fetch('/essay');
        const payment = asked.status === 402 && (await sign(asked.headers.get('PAYMENT-REQUIRED')));
        const paid = await fetch('/essay', { headers: payment || {} });
        if (paid.ok) location.href = '/essay';
      };
      // On your site the reader's wallet signs, here in the browser.
      const sign = async (body) => (await fetch('/demo-wallet', { method: 'POST', body })).json();
    </script>`);
});
app.get('/essay', gate, (_req, res) => {
  res.type('html').send('<!doctype html><title>An essay</title><img src="/cover.svg"> <a href="/letter">A letter</a>');
});
app.get(
  '/letter',
  gate,
  (_req, res) => void res.type('html').send('<!doctype html><title>A letter</title>Dear reader'),
);
app.get('/cover.svg', gate, (_req, res) => {
  res
    .type('svg')
    .send('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle r="9" fill="teal"/></svg>');
});

// Stands in for the wallet of a reader, and signs whatever it is asked to: for the sandbox alone.
const signer = await createKeyPairSignerFromBytes((await createWallet({ usdc: '20' })).secretKey);
const wallet = new x402HTTPClient(new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl })));
app.post('/demo-wallet', express.text({ type: '*/*' }), async (req, res) => {
  const terms = wallet.getPaymentRequiredResponse(() => String(req.body));
  res.json(wallet.encodePaymentSignatureHeader(await wallet.createPaymentPayload(terms)));
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://localhost:${port}/`);
  console.log(`npx tollhouse pay http://127.0.0.1:${port}/essay --demo --rpc ${rpcUrl}`);
});
