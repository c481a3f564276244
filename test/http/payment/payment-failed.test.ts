import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { receiptOf, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

/** Where a token account holds its amount. */
const [AMOUNT_START, AMOUNT_END] = [64, 72];

let fixture: TollFixture;

beforeAll(async () => {
  fixture = await openTollFixture({ maxBlockhashAgeBlocks: 2_000 });
});
afterAll(() => fixture.close());

test('a payment that failed on the chain is answered with its signature and fresh terms, and nothing is served', async () => {
  const { facilitator, payTo, sandbox } = fixture;
  const gate = requirePayment({ facilitator, payTo, price: '$0.01' });
  const url = await fixture.serve((app) => app.get('/report', gate, (_req, res) => void res.send('sold')));
  const payer = await sandbox.createWallet({ usdc: '1' });
  const { v2 } = await signPayment({ sandbox, payer }, `${url}/report`);

  // The node lets the transaction pass; when it lands, the money is gone.
  sandbox.faults.add({ kind: 'late', slots: 20, times: 1 });
  const { sendTransaction } = sandbox.calls;
  const answering = fetch(`${url}/report`, { headers: v2 });
  await until(() => sandbox.calls.sendTransaction > sendTransaction);
  const account = sandbox.fundToken(payer.publicKey.toBase58(), facilitator.tokens[0]!.mint, 0n);
  const state = sandbox.account(account)!;
  sandbox.setAccount(account, { ...state, data: Uint8Array.from(state.data).fill(0, AMOUNT_START, AMOUNT_END) });

  const answer = await answering;
  expect(answer.status).toBe(402);
  expect(receiptOf(answer)).toMatchObject({
    success: false,
    errorReason: 'invalid_exact_svm_transaction_failed',
    transaction: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{86,88}$/),
  });
  expect(await answer.json()).toMatchObject({
    code: 'payment_failed',
    detail: expect.stringContaining('The chain said'),
    accepts: [expect.objectContaining({ payTo })],
  });
  expect(answer.headers.get('payment-required')).not.toBeNull();
});
