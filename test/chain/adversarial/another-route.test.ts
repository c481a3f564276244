import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { headerV1, headerV2, paymentOf, refusalOf, useArena } from '../../helpers/transactions/hostile.js';
import { receiptOf } from '../../helpers/transactions/payments.js';

const arena = useArena();

test('a payment for one route buys nothing on another with the same price, nor by another method', async () => {
  const { fixture, facilitator } = arena();
  const terms = arena().terms();
  const served: string[] = [];
  const origin = await fixture.serve((app) => {
    const { asset, amount, payTo } = terms;
    const gate = requirePayment({ facilitator, price: { asset, amount }, payTo });
    app.all(['/cheap', '/dear'], gate, (req, res) => {
      served.push(`${req.method} ${req.path}`);
      res.json({ runs: served.length });
    });
  });
  const { draft } = await arena().honest(terms);
  const transaction = buildDraft(draft);
  const paid = await fetch(`${origin}/cheap`, { headers: headerV2(transaction, terms) });
  expect(paid.status).toBe(200);

  const sold = fixture.sandbox.tokenBalance(terms.payTo, terms.asset);
  fixture.sandbox.resetCalls();
  for (const headers of [headerV2(transaction, terms), headerV1(transaction, terms)]) {
    const requests: [string, RequestInit][] = [
      ['/dear', { headers }],
      ['/dear?cheap', { headers }],
      ['/cheap', { headers, method: 'POST' }],
    ];
    for (const [path, init] of requests) {
      const answer = await fetch(origin + path, init);
      // What is on the chain for everybody is all that it gives away.
      expect(receiptOf(answer)).toEqual(receiptOf(paid));
      expect(answer.headers.has('Idempotency-Replayed')).toBe(false);
      expect(await refusalOf(answer)).toEqual({ status: 402, reason: 'payment_already_used' });
    }
  }
  const again = await fetch(`${origin}/cheap`, { headers: headerV2(transaction, terms) });
  expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([200, 'true']);
  expect(receiptOf(again)).toEqual(receiptOf(paid));
  expect(await again.text()).toBe(await paid.text());
  const settlement = await facilitator.settle(paymentOf(transaction, terms), terms);
  expect(settlement).toMatchObject({ status: 'failed', reason: 'duplicate_settlement' });
  expect(served).toEqual(['GET /cheap']);
  expect(fixture.sandbox.calls.total).toBe(0);
  expect(fixture.sandbox.tokenBalance(terms.payTo, terms.asset)).toBe(sold);
});
