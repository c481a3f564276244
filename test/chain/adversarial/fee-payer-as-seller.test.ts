import { useArena } from '../../helpers/hostile.js';

const arena = useArena();

test('the fee payer may be the seller: receiving is no drain', async () => {
  const { stand } = arena();
  const payTo = stand.feePayer.publicKey.toBase58();
  const terms = arena().terms({ payTo });
  stand.sandbox.fundToken(payTo, terms.asset, 0n);
  const { draft } = await arena().honest(terms);
  await arena().pays(draft, terms);
});
