import { createTimedFacilitator } from '../../src/facilitator/create-facilitator.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../src/storage/ledger/memory-ledger.js';
import { type CliFixture, openCliFixture } from '../helpers/fixtures/cli-fixture.js';
import { QUICK } from '../helpers/fixtures/toll-fixture.js';
import { serveApp } from '../helpers/http/app-server.js';

let fixture: CliFixture;
const closers: (() => Promise<void>)[] = [];
beforeAll(async () => {
  fixture = await openCliFixture();
});
afterAll(async () => {
  for (const close of closers) await close();
  await fixture.close();
});

test('pay says of a payment that the site has forgotten that it was made, by which transaction, and not to sign again', async () => {
  const { sandbox } = fixture.server.chain;
  if (sandbox === undefined) throw new Error('no sandbox');
  const { network, rpcUrl, wsUrl, tokens } = sandbox;
  const keypair = await sandbox.createWallet({ sol: '1' });
  const seller = await sandbox.createWallet({ usdc: '0' });
  const newGate = () => {
    const books = { ledger: createMemoryLedger(), check: false };
    const facilitator = createTimedFacilitator({ network, rpcUrl, wsUrl, tokens, keypair, ...books }, QUICK);
    closers.unshift(() => facilitator.close());
    return requirePayment({ facilitator, payTo: seller.publicKey.toBase58(), price: '$0.01' });
  };
  let gate = newGate();
  let payments = 0;
  const { url, close } = await serveApp((app) => {
    app.get(
      '/report',
      (req, res, next) => {
        payments += req.headers['payment-signature'] === undefined ? 0 : 1;
        if (payments === 1) {
          // The money lands, the response is lost, and so are the books.
          res.end = ((): typeof res => {
            gate = newGate();
            sandbox.expireBlockhashes();
            res.destroy();
            return res;
          }) as typeof res.end;
        }
        gate(req, res, next);
      },
      (_req, res) => void res.send('paid'),
    );
  });
  closers.unshift(close);
  const { code, text } = await fixture.run('pay', `${url}/report`, '--demo', '--rpc', rpcUrl);
  expect([code, payments]).toEqual([1, 2]);
  expect(text).toMatch(/do not sign again/);
  expect(text).toMatch(/[1-9A-HJ-NP-Za-km-z]{80,90}/);
  expect(text).not.toMatch(/not paid/);
  const received = await sandbox.tokenBalance(seller.publicKey.toBase58(), sandbox.tokens[0]!.mint);
  expect(received).toBe(10_000n);
});
