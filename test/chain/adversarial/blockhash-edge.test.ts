import { Connection } from '@solana/web3.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { paymentOf, useArena } from '../../helpers/transactions/hostile.js';
import { until } from '../../helpers/until.js';

// Time stands still while a blockhash is used, and going on costs the chain something for each slot.
const arena = useArena({}, 200);

afterEach(() => arena().fixture.sandbox.resumeSlots());

/** A payment in the last block in which it may land, found good by then; time stands still. */
async function paymentInItsLastBlock() {
  const { sandbox } = arena().fixture;
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  sandbox.pauseSlots();
  const hash = await new Connection(sandbox.rpcUrl, 'confirmed').getLatestBlockhash();
  const payment = paymentOf(buildDraft({ ...draft, blockhash: hash.blockhash }), terms);
  // Verified against the confirmed state, which is behind the newest one.
  expect(await arena().facilitator.verify(payment, terms)).toMatchObject({ ok: true });
  sandbox.advanceSlots(hash.lastValidBlockHeight - sandbox.blockHeight());
  return { terms, payment, before: sandbox.balance(terms.feePayer!) };
}

test('in the last block of its life a payment is settled', async () => {
  const { fixture, facilitator } = arena();
  const { terms, payment, before } = await paymentInItsLastBlock();
  const settlement = facilitator.settle(payment, terms);
  await until(() => fixture.sandbox.balance(terms.feePayer!) < before);
  fixture.sandbox.advanceSlots(10);
  expect(await settlement).toMatchObject({ status: 'settled' });
});

test('one block later it is refused, and costs nothing', async () => {
  const { fixture, facilitator } = arena();
  const { terms, payment, before } = await paymentInItsLastBlock();
  fixture.sandbox.advanceSlots();
  const settlement = await facilitator.settle(payment, terms);
  expect(settlement).toMatchObject({ status: 'failed', reason: 'invalid_exact_svm_blockhash_expired' });
  expect(settlement).not.toHaveProperty('signature');
  expect(before - fixture.sandbox.balance(terms.feePayer!)).toBe(0n);
});
