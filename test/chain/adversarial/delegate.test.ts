import { createApproveInstruction, createRevokeInstruction } from '@solana/spl-token';
import { type Keypair, PublicKey } from '@solana/web3.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { buildDraft } from '../../helpers/draft.js';
import { withTransfer } from '../../helpers/honest-draft.js';
import { paymentOf, useArena } from '../../helpers/hostile.js';
import { landAs } from '../../helpers/land-as.js';
import { transferChecked } from '../../helpers/raw-instructions.js';

const arena = useArena();

/** A payment by the stand's payer, out of the account of somebody who lets it spend so much. */
async function delegatedPayment(allowance: bigint) {
  const { stand } = arena();
  const terms = arena().terms();
  const owner = await stand.sandbox.createWallet({ usdc: '1', sol: '1' });
  const source = associatedTokenAddress(owner.publicKey.toBase58(), terms.asset, PROGRAMS.token);
  await approve(owner, source, allowance);
  const { draft, scene } = await arena().honest(terms);
  const payment = paymentOf(buildDraft(withTransfer(draft, transferChecked({ ...scene.transfer, source }))), terms);
  return { terms, owner, source, payment };
}

function approve(owner: Keypair, source: string, allowance: bigint): Promise<unknown> {
  const { stand } = arena();
  const account = new PublicKey(source);
  return landAs(stand, owner, createApproveInstruction(account, stand.payer.publicKey, owner.publicKey, allowance));
}

test('an allowance that is one unit short is refused, and is good once it is enough', async () => {
  const { stand, facilitator } = arena();
  const { terms, owner, source, payment } = await delegatedPayment(9_999n);
  const before = stand.sandbox.balance(terms.feePayer!);
  const refused = { reason: 'insufficient_funds' };
  expect(await facilitator.verify(payment, terms)).toMatchObject({ ok: false, ...refused });
  expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'failed', ...refused });
  expect(before - stand.sandbox.balance(terms.feePayer!)).toBe(0n);

  await approve(owner, source, terms.amount);
  const sold = stand.sandbox.tokenBalance(terms.payTo, terms.asset);
  expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'settled' });
  expect(stand.sandbox.tokenBalance(terms.payTo, terms.asset) - sold).toBe(terms.amount);
});

test('an allowance that is withdrawn between verify and settle costs nothing', async () => {
  const { stand, facilitator } = arena();
  const { terms, owner, source, payment } = await delegatedPayment(10_000n);
  expect(await facilitator.verify(payment, terms)).toMatchObject({ ok: true });
  await landAs(stand, owner, createRevokeInstruction(new PublicKey(source), owner.publicKey));

  const before = stand.sandbox.balance(terms.feePayer!);
  const settlement = await facilitator.settle(payment, terms);
  expect(settlement).toMatchObject({ status: 'failed', reason: 'invalid_exact_svm_transaction_simulation_failed' });
  expect(settlement).not.toHaveProperty('signature');
  expect(before - stand.sandbox.balance(terms.feePayer!)).toBe(0n);
});
