import { requirePayment } from '../../../src/middleware/require-payment.js';
import { buildDraft } from '../../helpers/draft.js';
import { headerV1, headerV2, paymentOf, refusalOf, useArena } from '../../helpers/hostile.js';

const arena = useArena();

test('a payment for one route buys nothing on another with the same price, nor by another method', async () => {
  const { stand, facilitator } = arena();
  const terms = arena().terms();
  const served: string[] = [];
  const origin = await stand.serve((app) => {
    const { asset, amount, payTo } = terms;
    const gate = requirePayment({ facilitator, price: { asset, amount }, payTo });
    app.all(['/cheap', '/dear'], gate, (req, res) => {
      served.push(`${req.method} ${req.path}`);
      res.json({});
    });
  });
  const { draft } = await arena().honest(terms);
  const transaction = buildDraft(draft);
  const paid = await fetch(`${origin}/cheap`, { headers: headerV2(transaction, terms) });
  expect(paid.status).toBe(200);

  stand.sandbox.resetCalls();
  for (const headers of [headerV2(transaction, terms), headerV1(transaction, terms)]) {
    const requests: [string, RequestInit][] = [
      ['/dear', { headers }],
      ['/dear?cheap', { headers }],
      ['/cheap', { headers, method: 'POST' }],
    ];
    for (const [path, init] of requests) {
      const answer = await fetch(origin + path, init);
      expect(answer.headers.get('PAYMENT-RESPONSE')).toBeNull();
      expect(await refusalOf(answer)).toEqual({ status: 402, reason: 'payment_already_used' });
    }
  }
  const settlement = await facilitator.settlePayment(paymentOf(transaction, terms), terms);
  expect(settlement).toMatchObject({ status: 'failed', reason: 'duplicate_settlement' });
  expect(served).toEqual(['GET /cheap']);
  expect(stand.sandbox.calls.total).toBe(0);
});
