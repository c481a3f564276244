import { createSyncNativeInstruction } from '@solana/spl-token';
import { PublicKey, SystemProgram } from '@solana/web3.js';
import { SOL_MINT } from '../../../src/protocol/networks/tokens.js';
import { buildDraft, type Draft } from '../../helpers/transactions/draft.js';
import { withLast, withTransfer } from '../../helpers/transactions/honest-draft.js';
import { type Scene, useArena } from '../../helpers/transactions/hostile.js';
import { landAs } from '../../helpers/transactions/land-as.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();
const reason = 'invalid_exact_svm_payload_unknown_optional_instruction';

/** Terms in wrapped SOL, somebody who holds it, and the honest payment. */
async function inWrappedSol() {
  const { fixture } = arena();
  const { sandbox } = fixture;
  const payer = await sandbox.createWallet({ sol: '1' });
  const terms = arena().terms({ asset: SOL_MINT, amount: 1_000_000n });
  sandbox.fundToken(terms.payTo, SOL_MINT, 0n);
  sandbox.fundToken(payer.publicKey.toBase58(), SOL_MINT, terms.amount);
  const { draft, scene } = await arena().honest(terms, payer);
  const transfer = { ...scene.transfer, decimals: 9 };
  return { terms, payer, scene: { ...scene, transfer }, draft: withTransfer(draft, transferChecked(transfer)) };
}

/** SOL put into the account of the seller, which it counts only when told. */
function plainSol({ payer, transfer, terms }: Scene) {
  const toPubkey = new PublicKey(transfer.destination);
  return SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: terms.amount });
}

const HOSTILE: readonly [string, (honest: Draft, scene: Scene) => Draft][] = [
  ['plain SOL in place of it', (honest, scene) => withTransfer(honest, plainSol(scene))],
  ['plain SOL beside it', (honest, scene) => withLast(honest, plainSol(scene))],
  [
    'SyncNative beside it',
    (honest, { transfer }) => withLast(honest, createSyncNativeInstruction(new PublicKey(transfer.destination))),
  ],
];

test.each(HOSTILE)('for a transfer of wrapped SOL, %s is refused', async (_name, hostile) => {
  const { terms, payer, scene, draft } = await inWrappedSol();
  await arena().turnsAway(buildDraft(hostile(draft, scene)), terms, reason, 'rules');
  await arena().pays(draft, terms, payer);
});

test('SOL that is not wrapped yet does not pay', async () => {
  const { fixture } = arena();
  const { terms, payer, scene, draft } = await inWrappedSol();
  const { source } = scene.transfer;
  const dear = { ...terms, amount: 2n * terms.amount };
  const transfer = transferChecked({ ...scene.transfer, amount: dear.amount });
  fixture.sandbox.airdrop(source, terms.amount);
  const payment = withTransfer(draft, transfer);
  await arena().turnsAway(buildDraft(payment), dear, 'insufficient_funds', 'chain');
  await landAs(fixture, payer, createSyncNativeInstruction(new PublicKey(source)));
  await arena().pays(payment, dear, payer);
});
