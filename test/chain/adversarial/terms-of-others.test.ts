import { Keypair } from '@solana/web3.js';
import type { Reason } from '../../../src/protocol/reasons.js';
import type { Terms } from '../../../src/protocol/types.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { paymentOf, useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();

const FOREIGN: readonly [string, Reason, (terms: Terms) => Terms][] = [
  ['in another scheme', 'invalid_exact_svm_unsupported_scheme', (it) => ({ ...it, scheme: 'upto' })],
  ['on another network', 'invalid_network', (it) => ({ ...it, network: 'solana' })],
  ['without a fee payer', 'invalid_exact_svm_payload_missing_fee_payer', ({ feePayer, ...it }) => it],
  [
    'with a fee payer that is not ours',
    'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
    (it) => ({ ...it, feePayer: Keypair.generate().publicKey.toBase58() }),
  ],
];

test.each(FOREIGN)('terms %s are refused without a call', async (_name, reason, changed) => {
  const { facilitator, fixture } = arena();
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  const foreign = changed(terms);
  const payment = paymentOf(buildDraft(draft), foreign);
  fixture.sandbox.resetCalls();
  expect(await facilitator.verify(payment, foreign)).toMatchObject({ ok: false, reason });
  expect(await facilitator.settle(payment, foreign)).toMatchObject({ status: 'failed', reason });
  expect(fixture.sandbox.calls.total).toBe(0);
  await arena().pays(draft, terms);
});

test.each([
  ['another network', 'invalid_exact_svm_network_mismatch', { network: 'solana' }],
  ['another scheme', 'invalid_exact_svm_unsupported_scheme', { scheme: 'upto' }],
] as const)('a payment that names %s than its terms is refused', async (_name, reason, changes) => {
  const { facilitator, fixture } = arena();
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  const payment = { ...paymentOf(buildDraft(draft), terms), ...changes };
  fixture.sandbox.resetCalls();
  expect(await facilitator.verify(payment, terms)).toMatchObject({ ok: false, reason });
  expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'failed', reason });
  expect(fixture.sandbox.calls.total).toBe(0);
});
