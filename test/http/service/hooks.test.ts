import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { receiptOf, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

describe('hooks', () => {
  let fixture: TollFixture;
  let url: string;
  let told: (readonly [string, unknown])[] = [];
  let warnings: string[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const options = { facilitator, payTo, price: '$0.01' };
    const telling = {
      onVerified: ({ req, payer, terms }: { req: { path: string }; payer: string; terms: { amount: bigint } }) =>
        told.push(['verified', { path: req.path, payer, amount: terms.amount }]),
      onSettled: ({ req, receipt }: { req: { path: string }; receipt: { signature: string } }) =>
        told.push(['settled', { path: req.path, signature: receipt.signature }]),
      onFailed: ({ req, refusal }: { req: { path: string }; refusal: { reason: string } }) =>
        told.push(['failed', { path: req.path, reason: refusal.reason }]),
    };
    const fail = (): never => {
      throw new Error('a listener is broken');
    };
    const reject = async (): Promise<never> => fail();
    const rejectUntold = (): Promise<never> => Promise.reject(Object.create(null));
    url = await fixture.serve((app) => {
      const gates = {
        told: requirePayment({ ...options, ...telling }),
        before: requirePayment({ ...options, ...telling, settle: 'before' }),
        throwing: requirePayment({ ...options, onVerified: fail, onSettled: fail, onFailed: fail }),
        rejecting: requirePayment({ ...options, onVerified: reject, onSettled: reject, onFailed: reject }),
        untold: requirePayment({ ...options, onVerified: rejectUntold, onSettled: rejectUntold }),
      };
      for (const [name, gate] of Object.entries(gates)) {
        app.get(`/${name}`, gate, (_req, res) => {
          told.push(['handled', undefined]);
          res.send('paid');
        });
      }
    });
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    told = [];
    warnings = [];
  });

  test('are told in order, with the request', async () => {
    const { v2 } = await signPayment(fixture, `${url}/told`);
    const answer = await fetch(`${url}/told`, { headers: v2 });
    const payer = fixture.payer.publicKey.toBase58();

    expect(told).toEqual([
      ['verified', { path: '/told', payer, amount: 10_000n }],
      ['handled', undefined],
      ['settled', { path: '/told', signature: receiptOf(answer).transaction }],
    ]);
  });

  test("with settle: 'before' the money comes before the handler", async () => {
    const { v2 } = await signPayment(fixture, `${url}/before`);
    await fetch(`${url}/before`, { headers: v2 });

    expect(told.map(([name]) => name)).toEqual(['verified', 'settled', 'handled']);
  });

  test('hear of a refusal', async () => {
    const payer = await fixture.sandbox.createWallet({ usdc: '0' });
    const { v2 } = await signPayment({ ...fixture, payer }, `${url}/told`);
    await fetch(`${url}/told`, { headers: v2 });

    expect(told).toEqual([['failed', { path: '/told', reason: 'insufficient_funds' }]]);
  });

  test('hear nothing of requests without payment, copies and unreadable headers', async () => {
    const { v2 } = await signPayment(fixture, `${url}/told`);
    await fetch(`${url}/told`, { headers: v2 });
    told = [];
    await fetch(`${url}/told`);
    await fetch(`${url}/told`, { headers: v2 });
    await fetch(`${url}/told`, { headers: { 'payment-signature': '!' } });

    expect(told).toEqual([]);
  });

  test.each(['/throwing', '/rejecting'])(
    '%s: a broken listener is a warning, and the payer gets what was paid',
    async (path) => {
      const warn = jest.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(String(text)));
      const payment = await signPayment(fixture, `${url}${path}`);
      const poor = await fixture.sandbox.createWallet({ usdc: '0' });
      const unpaid = await signPayment({ ...fixture, payer: poor }, `${url}${path}`);
      const paid = await fetch(`${url}${path}`, { headers: payment.v2 });
      const refused = await fetch(`${url}${path}`, { headers: unpaid.v2 });
      await until(() => warnings.length === 3);
      warn.mockRestore();

      expect([paid.status, refused.status]).toEqual([200, 402]);
      expect(await paid.text()).toBe('paid');
      expect(warnings).toEqual(
        ['onVerified', 'onSettled', 'onFailed'].map((name) => expect.stringMatching(`"${name}".*a listener is broken`)),
      );
    },
  );

  test('a listener that rejects with what cannot be told is a warning as well', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(String(text)));
    const { v2 } = await signPayment(fixture, `${url}/untold`);
    const paid = await fetch(`${url}/untold`, { headers: v2 });
    await until(() => warnings.length === 2);
    warn.mockRestore();
    expect([paid.status, await paid.text()]).toEqual([200, 'paid']);
  });
});
