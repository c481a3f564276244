import { createApproveInstruction, createRevokeInstruction } from '@solana/spl-token';
import { type Keypair, PublicKey } from '@solana/web3.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { withTransfer } from '../../helpers/transactions/honest-draft.js';
import { paymentOf, useArena } from '../../helpers/transactions/hostile.js';
import { landAs } from '../../helpers/transactions/land-as.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

/** A payment by the fixture's payer, out of the account of somebody who lets it spend so much. */
async function delegatedPayment(allowance: bigint) {
  const { fixture } = arena();
  const terms = arena().terms();
  const owner = await fixture.sandbox.createWallet({ usdc: '1', sol: '1' });
  const source = associatedTokenAddress(owner.publicKey.toBase58(), terms.asset, PROGRAMS.token);
  await approve(owner, source, allowance);
  const { draft, scene } = await arena().honest(terms);
  const payment = paymentOf(buildDraft(withTransfer(draft, transferChecked({ ...scene.transfer, source }))), terms);
  return { terms, owner, source, payment };
}

function approve(owner: Keypair, source: string, allowance: bigint): Promise<unknown> {
  const { fixture } = arena();
  const account = new PublicKey(source);
  return landAs(fixture, owner, createApproveInstruction(account, fixture.payer.publicKey, owner.publicKey, allowance));
}

test('an allowance that is one unit short is refused, and is good once it is enough', async () => {
  const { fixture, facilitator } = arena();
  const { terms, owner, source, payment } = await delegatedPayment(9_999n);
  const before = fixture.sandbox.balance(terms.feePayer!);
  const refused = { reason: 'insufficient_funds' };
  expect(await facilitator.verify(payment, terms)).toMatchObject({ ok: false, ...refused });
  expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'failed', ...refused });
  expect(before - fixture.sandbox.balance(terms.feePayer!)).toBe(0n);

  await approve(owner, source, terms.amount);
  const sold = fixture.sandbox.tokenBalance(terms.payTo, terms.asset);
  expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'settled' });
  expect(fixture.sandbox.tokenBalance(terms.payTo, terms.asset) - sold).toBe(terms.amount);
});

test('an allowance that is withdrawn between verify and settle costs nothing', async () => {
  const { fixture, facilitator } = arena();
  const { terms, owner, source, payment } = await delegatedPayment(10_000n);
  expect(await facilitator.verify(payment, terms)).toMatchObject({ ok: true });
  await landAs(fixture, owner, createRevokeInstruction(new PublicKey(source), owner.publicKey));

  const before = fixture.sandbox.balance(terms.feePayer!);
  const settlement = await facilitator.settle(payment, terms);
  expect(settlement).toMatchObject({ status: 'failed', reason: 'invalid_exact_svm_transaction_simulation_failed' });
  expect(settlement).not.toHaveProperty('signature');
  expect(before - fixture.sandbox.balance(terms.feePayer!)).toBe(0n);
});
