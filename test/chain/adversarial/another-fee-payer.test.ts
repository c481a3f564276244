import { Keypair } from '@solana/web3.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { headerV2, paymentOf, refusalOf, useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();

test('a stranger as fee payer is refused', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_fee_payer_mismatch',
    hostile: (honest) => ({ ...honest, feePayer: Keypair.generate().publicKey.toBase58() }),
  }));

test('another key of ours as fee payer is refused where the terms name the first', async () => {
  const { facilitator, secondKey, fixture, route, handlerRuns } = arena();
  const reason = 'invalid_exact_svm_fee_payer_mismatch';
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  const bytes = buildDraft({ ...draft, feePayer: secondKey.publicKey.toBase58() });
  const before = [fixture.sandbox.balance(secondKey.publicKey.toBase58()), handlerRuns()];
  fixture.sandbox.resetCalls();
  expect(await facilitator.verify(paymentOf(bytes, terms), terms)).toMatchObject({ ok: false, reason });
  // Version 1 does not repeat the terms, and there a key that was offered before is as good as the first.
  const answer = await fetch(route(terms), { headers: headerV2(bytes, terms) });
  expect(await refusalOf(answer)).toEqual({ status: 402, reason });
  expect(await facilitator.settle(paymentOf(bytes, terms), terms)).toMatchObject({ status: 'failed', reason });
  expect(fixture.sandbox.calls.total).toBe(0);
  expect([fixture.sandbox.balance(secondKey.publicKey.toBase58()), handlerRuns()]).toEqual(before);
});

test('the payer as fee payer is refused: it would leave us nothing to sign', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_fee_payer_mismatch',
    hostile: (honest, { transfer }) => ({ ...honest, feePayer: transfer.authority }),
  }));

test('a key of ours that is not offered serves what it was offered for', async () => {
  const terms = arena().terms({ feePayer: arena().secondKey.publicKey.toBase58() });
  const { draft } = await arena().honest(terms);
  await arena().pays(draft, terms);
});
