import { Keypair } from '@solana/web3.js';
import type { Terms } from '../../../src/protocol/types.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { withMemo } from '../../helpers/transactions/honest-draft.js';
import { headerV2, paymentOf, refusalOf, useArena } from '../../helpers/transactions/hostile.js';
import { memo } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena({ settleTimeoutMs: 200 });
const ORDER = 'order 7';

afterEach(() => arena().fixture.sandbox.faults.clear());

const OTHERS: readonly [string, string, () => Partial<Terms>][] = [
  ['with a memo of the seller, which it happens to carry', 'duplicate_settlement', () => ({ memo: ORDER })],
  [
    'for another seller',
    'invalid_exact_svm_payload_recipient_mismatch',
    () => ({ payTo: Keypair.generate().publicKey.toBase58() }),
  ],
  ['for another amount', 'invalid_exact_svm_payload_amount_mismatch', () => ({ amount: 1n })],
  [
    'with another fee payer of ours',
    'invalid_exact_svm_fee_payer_mismatch',
    () => ({ feePayer: arena().secondKey.publicKey.toBase58() }),
  ],
];

test.each(OTHERS)('a settlement that is pending is no success for terms %s', async (_name, reason, changes) => {
  const { fixture, facilitator, handlerRuns, route } = arena();
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  const transaction = buildDraft(withMemo(draft, memo(ORDER)));
  fixture.sandbox.faults.add({ kind: 'drop' });
  const pending = await facilitator.settle(paymentOf(transaction, terms), terms);
  expect(pending).toMatchObject({ status: 'pending' });
  fixture.sandbox.faults.clear();

  const others = { ...terms, ...changes() };
  const payment = paymentOf(transaction, others);
  const runs = handlerRuns();
  expect(await facilitator.verify(payment, others)).toMatchObject({ ok: false, reason });
  expect(await facilitator.settle(payment, others)).toMatchObject({ status: 'failed', reason });
  const { status } = await refusalOf(await fetch(route(others), { headers: headerV2(transaction, others) }));
  expect(status).toBe(402);
  expect(handlerRuns()).toBe(runs);
});
