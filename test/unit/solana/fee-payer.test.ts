import { Keypair } from '@solana/web3.js';
import { createFeePayer } from '../../../src/solana/fee-payer.js';
import { type DecodedTransaction, decodeTransaction } from '../../../src/solana/transaction/transaction.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { memo } from '../../helpers/transactions/raw-instructions.js';

const [ours, payer] = [Keypair.generate(), Keypair.generate()];
const blockhash = Keypair.generate().publicKey.toBase58();
const OURS = ours.publicKey.toBase58();

/** A transaction that both sign, with the signatures of some. */
function transactionBy(feePayer: Keypair, ...signers: readonly Keypair[]): DecodedTransaction {
  const named = [ours, payer].map(({ publicKey }) => ({ address: publicKey.toBase58(), signs: true }));
  const draft = { version: 0, blockhash, instructions: [memo('', named)], signers } as const;
  const decoded = decodeTransaction(buildDraft({ ...draft, feePayer: feePayer.publicKey.toBase58() }));
  if (!decoded.ok) throw new Error(decoded.detail);
  return decoded.transaction;
}

test('it fills the first slot, and leaves what it was given as it was', () => {
  const given = transactionBy(ours, payer);
  const before = Buffer.from(given.bytes);
  const signed = createFeePayer(ours, 'here').sign(given);
  expect(Buffer.from(signed)).toEqual(Buffer.from(transactionBy(ours, ours, payer).bytes));
  expect(Buffer.from(given.bytes)).toEqual(before);
});

test('it does not sign where it is a signer and another pays the fee', () => {
  const feePayer = createFeePayer(ours, 'here');
  expect(feePayer.address).toBe(OURS);
  expect(() => feePayer.sign(transactionBy(payer, payer))).toThrow('this key is not the fee payer of the transaction');
});
