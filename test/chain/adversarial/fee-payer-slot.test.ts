import { writeTerms } from '../../../src/protocol/wire/terms.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { headerV1, headerV2, paymentOf, refusalOf, useArena } from '../../helpers/transactions/hostile.js';
import { carry, stolenFrom } from '../../helpers/transactions/payments.js';

const arena = useArena();

/** The transaction with other bytes in the fee payer's signature slot. */
function withSlot(transaction: Uint8Array, fill: number): Uint8Array {
  return Uint8Array.from(transaction).fill(fill, 1, 65);
}

test('other bytes in the slot of the fee payer are the same payment, and buy no second service', async () => {
  const { facilitator, handlerRuns, route, fixture } = arena();
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  await arena().pays(draft, terms);
  const held = () => [
    handlerRuns(),
    fixture.sandbox.balance(terms.feePayer!),
    fixture.sandbox.tokenBalance(terms.payTo, terms.asset),
  ];
  const before = held();
  fixture.sandbox.resetCalls();

  for (const fill of [0, 1, 255]) {
    const again = withSlot(buildDraft(draft), fill);
    for (const headers of [headerV2(again, terms), headerV1(again, terms)]) {
      const replay = await fetch(route(terms), { headers });
      expect([replay.status, replay.headers.get('Idempotency-Replayed')]).toEqual([200, 'true']);
      expect(await replay.json()).toEqual({ served: true });
    }
    const thief = await stolenFrom(carry(again, writeTerms(terms)), route(terms));
    const refusal = await refusalOf(await fetch(route(terms), { headers: thief.v2 }));
    expect(refusal).toEqual({ status: 402, reason: 'payment_already_used' });
    const payment = paymentOf(again, terms);
    const refused = { reason: 'duplicate_settlement' };
    expect(await facilitator.verify(payment, terms)).toMatchObject({ ok: false, ...refused });
    expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'failed', ...refused });
  }
  expect(held()).toEqual(before);
  expect(fixture.sandbox.calls.total).toBe(0);
});

test('twenty copies at once with different bytes in that slot run the handler once', async () => {
  const { handlerRuns, route, fixture } = arena();
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  const transaction = buildDraft(draft);
  const runs = handlerRuns();
  const sold = fixture.sandbox.tokenBalance(terms.payTo, terms.asset);
  fixture.sandbox.resetCalls();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, fill) =>
      fetch(route(terms), { headers: headerV2(withSlot(transaction, fill), terms) }),
    ),
  );
  const served = answers.filter(({ status }) => status === 200);
  expect(served.filter(({ headers }) => !headers.has('Idempotency-Replayed'))).toHaveLength(1);
  for (const answer of served) expect(await answer.json()).toEqual({ served: true });
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(answers.length - served.length);
  expect(handlerRuns() - runs).toBe(1);
  expect(fixture.sandbox.calls.sendTransaction).toBe(1);
  expect(fixture.sandbox.tokenBalance(terms.payTo, terms.asset) - sold).toBe(terms.amount);
});

test('whatever was in the slot before, the fee payer signs, and the payment is good', async () => {
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  await arena().pays({ ...draft, changeBytes: (it) => withSlot(it, 7) }, terms);
});
