import { VersionedTransaction } from '@solana/web3.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type RpcProxy, startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import { confirmed, sendToChain } from '../../helpers/transactions/direct-transfer.js';
import { receiptOf, type SignedPayment, signPayment } from '../../helpers/transactions/payments.js';

const EXPIRED = { status: 402, code: 'payment_invalid', error: 'invalid_exact_svm_blockhash_expired', transaction: '' };
const PAID_BEFORE = { code: 'payment_already_used', error: 'duplicate_settlement' };

describe.each(['after', 'before'] as const)('a payment of a dead blockhash, settled %s its handler,', (settle) => {
  let fixture: TollFixture;
  let proxy: RpcProxy;
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    proxy = await startRpcProxy(fixture.sandbox.rpcUrl);
  });
  afterAll(async () => {
    await fixture.close();
    await proxy.close();
  });
  beforeEach(() => {
    runs = 0;
    proxy.decide = () => 'pass';
  });

  /** A server whose books know nothing of the ones before. */
  async function start(): Promise<string> {
    const facilitator = fixture.facilitatorWith({ ledger: createMemoryLedger(), rpcUrl: proxy.url }, QUICK);
    const url = await fixture.serve((app) => {
      app.get('/report', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', settle }), (_req, res) => {
        runs += 1;
        res.send('paid');
      });
    });
    return `${url}/report`;
  }

  async function bring(url: string, { v2 }: SignedPayment) {
    const answer = await fetch(url, { headers: v2 });
    const { code, error, detail } = JSON.parse(await answer.text());
    const { transaction, success } = answer.headers.has('payment-response') ? receiptOf(answer) : {};
    return { status: answer.status, code, error, detail: String(detail), transaction, success };
  }

  async function payAndLoseBooks() {
    const before = await start();
    const payment = await signPayment(fixture, before);
    const paid = await fetch(before, { headers: payment.v2 });
    const url = await start();
    fixture.sandbox.expireBlockhashes();
    return { url, payment, signature: receiptOf(paid).transaction };
  }

  test('that has landed, and of which the books were lost, is told as paid, with its signature, and buys nothing', async () => {
    const { url, payment, signature } = await payAndLoseBooks();
    const told = [await bring(url, payment), await bring(url, payment)];
    for (const it of told) {
      expect(it).toMatchObject({ status: 402, ...PAID_BEFORE, transaction: signature, success: false });
      expect(it.detail).toContain('do not sign again');
      expect(it.detail).toContain(signature);
    }
    expect(runs).toBe(1);
  });

  test('is neither called paid nor unpaid while the chain cannot be asked, and then told as what it is', async () => {
    const { url, payment } = await payAndLoseBooks();
    proxy.decide = ({ method }) =>
      method === 'getSignatureStatuses' ? { status: 500, body: 'away', isUnheard: true } : 'pass';
    const away = await bring(url, payment);
    proxy.decide = () => 'pass';
    expect(away).toMatchObject({ status: 503, code: 'payment_backend_unavailable' });
    expect(await bring(url, payment)).toMatchObject({ status: 402, ...PAID_BEFORE });
  });

  test('that has landed and failed is told as failed', async () => {
    const url = await start();
    const payer = await fixture.sandbox.createWallet({ usdc: '0' });
    const payment = await signPayment({ ...fixture, payer }, url);
    const transaction = VersionedTransaction.deserialize(payment.transaction);
    transaction.sign([fixture.feePayer]);
    const signature = await sendToChain(fixture.sandbox, transaction.serialize());
    await confirmed(fixture.sandbox, signature);
    fixture.sandbox.expireBlockhashes();
    const failed = { status: 402, code: 'payment_failed', error: 'invalid_exact_svm_transaction_failed' };
    expect(await bring(url, payment)).toMatchObject({ ...failed, transaction: signature });
  });

  test('that has not landed is told to be signed again, and what is signed then pays', async () => {
    const url = await start();
    const payment = await signPayment(fixture, url);
    fixture.sandbox.expireBlockhashes();
    expect(await bring(url, payment)).toMatchObject(EXPIRED);
    const again = await signPayment(fixture, url);
    expect((await fetch(url, { headers: again.v2 })).status).toBe(200);
  });

  test('shares its look with all that come with it: a flood of them has a node asked a few times, and who pays beside it is served', async () => {
    const url = await start();
    const dead = await Promise.all(Array.from({ length: 40 }, () => signPayment(fixture, url)));
    fixture.sandbox.expireBlockhashes();
    const good = await signPayment(fixture, url);
    const asked: number[] = [];
    proxy.decide = ({ method, params: [signatures, options] }) => {
      const isHistory = Reflect.get(Object(options), 'searchTransactionHistory') === true;
      if (method === 'getSignatureStatuses' && isHistory && Array.isArray(signatures)) asked.push(signatures.length);
      return 'pass';
    };
    const [served, ...refused] = await Promise.all([
      fetch(url, { headers: good.v2 }).then(({ status }) => status),
      ...dead.map((it) => bring(url, it)),
    ]);
    expect(served).toBe(200);
    expect(refused).toEqual(refused.map(() => expect.objectContaining(EXPIRED)));
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(dead.length);
    expect(asked.length).toBeLessThan(dead.length / 2);
  });
});
