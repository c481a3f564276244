import { Keypair } from '@solana/web3.js';
import { type Scene, useArena } from '../../helpers/hostile.js';

const arena = useArena();

test.each([
  ['another key of ours', ({ secondKey }: Scene) => secondKey.publicKey],
  ['a stranger', () => Keypair.generate().publicKey],
])('%s as fee payer is refused where the terms name another', (_name, feePayerOf) =>
  arena().refuses({
    reason: 'invalid_exact_svm_fee_payer_mismatch',
    hostile: (honest, scene) => ({ ...honest, feePayer: feePayerOf(scene).toBase58() }),
  }),
);

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
