import { useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();

test('the fee payer may be the seller: receiving is no drain', async () => {
  const { fixture } = arena();
  const payTo = fixture.feePayer.publicKey.toBase58();
  const terms = arena().terms({ payTo });
  fixture.sandbox.fundToken(payTo, terms.asset, 0n);
  const { draft } = await arena().honest(terms);
  await arena().pays(draft, terms);
});
