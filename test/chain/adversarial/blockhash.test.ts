import { Keypair } from '@solana/web3.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();
const reason = 'invalid_exact_svm_blockhash_expired';

test('a blockhash that nobody gave out is refused', () =>
  arena().refuses({
    reason,
    refusedBy: 'chain',
    hostile: (honest) => ({ ...honest, blockhash: Keypair.generate().publicKey.toBase58() }),
  }));

test('an expired blockhash is refused, a new one is good', async () => {
  const terms = arena().terms();
  const { draft } = await arena().honest(terms);
  arena().fixture.sandbox.expireBlockhashes();
  await arena().turnsAway(buildDraft(draft), terms, reason, 'chain');
  const { draft: renewed } = await arena().honest(terms);
  await arena().pays({ ...draft, blockhash: renewed.blockhash }, terms);
});
