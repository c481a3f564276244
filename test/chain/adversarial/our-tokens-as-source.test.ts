import { createApproveInstruction } from '@solana/spl-token';
import { Connection, type Keypair, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js';
import { withTransfer } from '../../helpers/transactions/honest-draft.js';
import { type Scene, useArena } from '../../helpers/transactions/hostile.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

/** Tokens of an owner, over which the payer was given power of attorney. */
async function delegatedAccount({ fixture, terms, payer }: Scene, owner: Keypair): Promise<string> {
  const account = fixture.sandbox.fundToken(owner.publicKey.toBase58(), terms.asset, terms.amount);
  const approve = createApproveInstruction(new PublicKey(account), payer.publicKey, owner.publicKey, terms.amount);
  const connection = new Connection(fixture.sandbox.rpcUrl, 'confirmed');
  fixture.sandbox.airdrop(fixture.payer.publicKey.toBase58(), 10_000_000n);
  await sendAndConfirmTransaction(connection, new Transaction().add(approve), [fixture.payer, owner]);
  return account;
}

test.each([
  ['the fee payer', ({ fixture }: Scene) => fixture.feePayer],
  ['another key of ours', ({ secondKey }: Scene) => secondKey],
])('tokens of %s do not pay, even where the payer is their delegate', (_name, ownerOf) =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
    hostile: async (honest, scene) => {
      const source = await delegatedAccount(scene, ownerOf(scene));
      return withTransfer(honest, transferChecked({ ...scene.transfer, source }));
    },
    wouldLand: true,
  }),
);

test('the tokens of the seller do not pay the seller, even where the payer is their delegate', async () => {
  const seller = await arena().fixture.sandbox.createWallet({ usdc: '1' });
  await arena().refuses({
    reason: 'invalid_exact_svm_payload_recipient_mismatch',
    terms: { payTo: seller.publicKey.toBase58() },
    hostile: async (honest, scene) => {
      const source = await delegatedAccount(scene, seller);
      return withTransfer(honest, transferChecked({ ...scene.transfer, source }));
    },
    wouldLand: true,
  });
});
