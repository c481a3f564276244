import { Keypair } from '@solana/web3.js';
import { signTransaction } from '../../../../src/solana/building/sign-transaction.js';
import { decodeTransaction } from '../../../../src/solana/transaction/transaction.js';
import { buildDraft, signatureBy } from '../../../helpers/transactions/draft.js';
import { instruction, memo } from '../../../helpers/transactions/raw-instructions.js';

const [first, second, third] = Array.from({ length: 3 }, () => Keypair.generate()) as [Keypair, Keypair, Keypair];
const addressOf = ({ publicKey }: Keypair): string => publicKey.toBase58();
const blockhash = addressOf(Keypair.generate());

/** A transaction that all three have to sign; `named` is in it and does not sign. */
function draftWith(signers: readonly Keypair[], named = addressOf(Keypair.generate())): Uint8Array {
  const signing = [second, third].map((it) => ({ address: addressOf(it), signs: true }));
  const instructions = [memo('', signing), instruction(named, [named], [])];
  return buildDraft({ version: 0, feePayer: addressOf(first), blockhash, instructions, signers });
}

function transactionOf(bytes: Uint8Array) {
  const result = decodeTransaction(bytes);
  if (!result.ok) throw new Error(result.detail);
  return result.transaction;
}

test.each([
  ['first', first],
  ['second', second],
  ['third', third],
])('the signature of the %s signer fills its slot, and all else stays', (_which, wallet) => {
  const others = [first, second, third].filter((it) => it !== wallet);
  const bytes = draftWith(others);
  const before = Uint8Array.from(bytes);
  const signed = transactionOf(signTransaction(bytes, wallet));
  const { accounts, message, signatures } = transactionOf(bytes);

  expect(bytes).toEqual(before);
  expect(signed.message).toEqual(message);
  const filled = signatures.map((empty, slot) =>
    accounts[slot] === addressOf(wallet) ? signatureBy(wallet, message) : empty,
  );
  expect(signed.signatures).toEqual(filled);
});

test('signed by all, whatever their order, it is the transaction that they sign together', () => {
  const named = addressOf(Keypair.generate());
  const together = draftWith([first, second, third], named);
  for (const order of [
    [first, second, third],
    [third, second, first],
  ]) {
    const signed = order.reduce<Uint8Array>((bytes, wallet) => signTransaction(bytes, wallet), draftWith([], named));
    expect(signed).toEqual(together);
  }
});

test('who is not asked to sign cannot: neither a stranger nor an account that is only named', () => {
  const message = 'the transaction does not ask for this wallet to sign';
  const wallet = Keypair.generate();
  expect(() => signTransaction(draftWith([]), wallet)).toThrow(message);
  expect(() => signTransaction(draftWith([], addressOf(wallet)), wallet)).toThrow(message);
});

test('the first account that does not sign is not asked to', () => {
  const wallet = Keypair.generate();
  const instructions = [memo('', [{ address: addressOf(wallet), written: true }])];
  const bytes = buildDraft({ version: 0, feePayer: addressOf(first), blockhash, instructions, signers: [] });
  expect(transactionOf(bytes).accounts.indexOf(addressOf(wallet))).toBe(transactionOf(bytes).requiredSignatures);
  expect(() => signTransaction(bytes, wallet)).toThrow('does not ask for this wallet');
});

test('bytes that are no transaction are refused with what is wrong with them', () => {
  const cut = draftWith([]).subarray(0, 100);
  expect(() => signTransaction(cut, first)).toThrow(
    'The transaction cannot be decoded: it ends inside its signatures.',
  );
});

test('a wallet that is none is refused by name', () => {
  expect(() => signTransaction(draftWith([]), 'nonsense')).toThrow(/^signTransaction: option "keypair"/);
});
