import { createAssociatedTokenAccountIdempotentInstruction, createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { REASONS, type Reason, SAME_WALLET } from '../../../../src/protocol/reasons.js';
import { checkDemand } from '../../../../src/solana/rules/native-checks.js';
import type { RequiredTransfers } from '../../../../src/solana/rules/required-transfers.js';
import { associatedTokenAddress } from '../../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { decodeTransaction } from '../../../../src/solana/transaction/transaction.js';
import { buildDraft } from '../../../helpers/transactions/draft.js';
import { guard, instruction, memo, transferChecked } from '../../../helpers/transactions/raw-instructions.js';

const fresh = () => Keypair.generate().publicKey.toBase58();
const [payer, ours] = [Keypair.generate(), Keypair.generate()];
const [PAYER, OURS] = [payer, ours].map(({ publicKey }) => publicKey.toBase58()) as [string, string];
const [SELLER, STRANGER, MINT, REFERENCE] = Array.from({ length: 4 }, fresh) as [string, string, string, string];
const POLICY = { managedKeys: new Set([OURS]), maxFeeLamports: 100_000n };

const TOKENS: RequiredTransfers = {
  asset: MINT,
  tokenProgram: PROGRAMS.token,
  legs: [{ recipient: SELLER, amount: 100n }],
  reference: undefined,
  memo: undefined,
};
const SOL: RequiredTransfers = { ...TOKENS, asset: PROGRAMS.system, tokenProgram: '' };

const accountOf = (owner: string) => associatedTokenAddress(owner, MINT, PROGRAMS.token);

function pay(recipient: string, amount = 100n, source = accountOf(PAYER)): TransactionInstruction {
  const parts = { source, mint: MINT, destination: accountOf(recipient), authority: PAYER };
  return transferChecked({ ...parts, amount, decimals: 6, program: PROGRAMS.token });
}

function paySol(recipient: string, lamports: bigint): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: new PublicKey(recipient), lamports });
}

function create(owner: string, funder = PAYER): TransactionInstruction {
  const keys = [funder, accountOf(owner), owner, MINT].map((it) => new PublicKey(it));
  return createAssociatedTokenAccountIdempotentInstruction(
    ...(keys as [PublicKey, PublicKey, PublicKey, PublicKey]),
    new PublicKey(PROGRAMS.token),
  );
}

interface Scene {
  readonly demand?: RequiredTransfers;
  readonly feePayer?: string;
  readonly signers?: readonly Keypair[];
}

function verdict(
  instructions: readonly TransactionInstruction[],
  { demand = TOKENS, feePayer = OURS, signers = [payer] }: Scene = {},
) {
  const bytes = buildDraft({ version: 0, feePayer, blockhash: fresh(), instructions, signers });
  const decoded = decodeTransaction(bytes);
  if (!decoded.ok) throw new Error(decoded.detail);
  return checkDemand(decoded.transaction, demand, POLICY);
}

/** Keeps the payer a signer, whatever else is in it. */
const SIGNED = memo('', [{ address: PAYER, signs: true }]);
const refused = (reason: Reason) => ({ ok: false, reason, message: REASONS[reason] });
const first = {
  source: accountOf(PAYER),
  destination: accountOf(SELLER),
  authority: PAYER,
  amount: 100n,
  others: [] as readonly string[],
};

/** Names accounts behind those that an instruction works on. */
function naming(instruction: TransactionInstruction, ...accounts: readonly string[]): TransactionInstruction {
  for (const it of accounts) {
    instruction.keys.push({ pubkey: new PublicKey(it), isSigner: false, isWritable: false });
  }
  return instruction;
}

test.each([
  ['we', OURS, true],
  ['the payer', PAYER, false],
])('the verdict on a good payment says who pays, and whether we pay the fee: %s', (_who, feePayer, sponsored) => {
  expect(verdict([pay(SELLER)], { feePayer })).toEqual({ ok: true, payer: PAYER, sponsored, first });
});

test('the first transfer of several is that of the first leg', () => {
  const legs = [SELLER, STRANGER].map((recipient, index) => ({ recipient, amount: 100n + BigInt(index) }));
  const demand = { ...TOKENS, legs };
  expect(verdict([pay(STRANGER, 101n), pay(SELLER)], { demand })).toMatchObject({ ok: true, first });
});

test.each([OURS, PAYER])('the reference has to be named where one is asked for [%#]', (feePayer) => {
  const demand = { ...TOKENS, reference: REFERENCE };
  expect(verdict([pay(SELLER)], { demand, feePayer })).toEqual(refused('invalid_transfer_reference_missing'));
  const misplaced = refused('invalid_transfer_reference_misplaced');
  expect(verdict([pay(SELLER), memo('', [REFERENCE])], { demand, feePayer })).toEqual(misplaced);
  expect(verdict([naming(pay(SELLER), REFERENCE, STRANGER)], { demand, feePayer })).toEqual(misplaced);
  expect(verdict([naming(pay(SELLER), STRANGER, REFERENCE)], { demand, feePayer }).ok).toBe(true);
});

test('whoever pays the fee, what is asked for has to be in it', () => {
  const cases = [OURS, PAYER].map((feePayer) => [
    verdict([pay(SELLER, 99n)], { feePayer }),
    verdict([pay(SELLER)], { feePayer, demand: { ...TOKENS, memo: 'order 7' } }),
    verdict([pay(SELLER)], { feePayer, signers: [] }),
  ]);
  const expected = [
    refused('invalid_transfer_leg_missing'),
    refused('invalid_exact_svm_payload_memo_count'),
    refused('invalid_exact_svm_payload_signature_invalid'),
  ];
  expect(cases).toEqual([expected, expected]);
});

test('who is to be paid and pays himself is told to take another wallet', () => {
  const told = { reason: 'invalid_transfer_leg_missing', message: SAME_WALLET };
  for (const feePayer of [OURS, PAYER]) {
    const tokens = { feePayer, demand: { ...TOKENS, legs: [{ recipient: PAYER, amount: 100n }] } };
    const sol = { feePayer, demand: { ...SOL, legs: [{ recipient: PAYER, amount: 5n }] } };
    expect(verdict([pay(PAYER)], tokens)).toMatchObject(told);
    expect(verdict([paySol(PAYER, 5n)], sol)).toMatchObject(told);
  }
  expect(verdict([pay(PAYER)])).toEqual(refused('invalid_transfer_leg_missing'));
});

test('SOL may be paid to a key of ours', () => {
  const demand = { ...SOL, legs: [{ recipient: OURS, amount: 5n }] };
  const paid = { source: PAYER, destination: OURS, authority: PAYER, amount: 5n, others: [] };
  expect(verdict([paySol(OURS, 5n)], { demand })).toEqual({ ok: true, payer: PAYER, sponsored: true, first: paid });
});

test('a token account of a key of ours may be created, and paid', () => {
  const demand = { ...TOKENS, legs: [{ recipient: OURS, amount: 100n }] };
  expect(verdict([create(OURS), pay(OURS)], { demand }).ok).toBe(true);
});

const funds = 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds';
const { keys: keysOfTransfer, ...transferOfSol } = paySol(SELLER, 5n);
const ourKey = { pubkey: ours.publicKey, isSigner: false, isWritable: true };

test.each<[string, Reason, readonly TransactionInstruction[]]>([
  ['a key of ours in a guard', funds, [pay(SELLER), guard(2, [OURS])]],
  ['a key of ours in a second place of a guard', funds, [pay(SELLER), guard(2, [STRANGER, OURS])]],
  ['a key of ours in a memo', funds, [pay(SELLER), memo('', [OURS])]],
  ['a key of ours that funds an account', funds, [create(SELLER, OURS), pay(SELLER)]],
  ['a key of ours behind a transfer of SOL', funds, [{ ...transferOfSol, keys: [...keysOfTransfer, ourKey] }]],
  ['a key of ours behind a transfer', funds, [{ ...pay(SELLER), keys: [...pay(SELLER).keys, ourKey] }]],
  ['our own tokens', funds, [pay(SELLER, 100n, accountOf(OURS))]],
  ['our own tokens beside', funds, [pay(SELLER), pay(STRANGER, 1n, accountOf(OURS))]],
  ['more tokens to somebody else', 'invalid_transfer_other_transfer', [pay(SELLER), pay(STRANGER)]],
  ['the tokens twice', 'invalid_transfer_other_transfer', [pay(SELLER), pay(SELLER)]],
  ['SOL beside the tokens', 'invalid_transfer_other_transfer', [pay(SELLER), paySol(STRANGER, 1n)]],
  [
    'an account of somebody else',
    'invalid_exact_svm_payload_unknown_optional_instruction',
    [create(SELLER), create(STRANGER), pay(SELLER)],
  ],
  [
    'an instruction of another program',
    'invalid_exact_svm_payload_unknown_optional_instruction',
    [pay(SELLER), instruction(STRANGER, [], [])],
  ],
])('where we pay the fee there is nothing but the payment in it: %s', (_what, reason, instructions) => {
  expect(verdict([...instructions, SIGNED])).toEqual(refused(reason));
});

test.each([
  ['tokens to somebody else', [pay(STRANGER, 1n)]],
  ['SOL to somebody else', [paySol(STRANGER, 1n)]],
  ['an account of somebody else', [create(STRANGER)]],
  ['an instruction of another program', [instruction(STRANGER, [], [])]],
  ['a key of ours', [memo('', [OURS])]],
])('who pays the fee itself may do beside it what it likes: %s', (_what, more) => {
  expect(verdict([pay(SELLER), ...more], { feePayer: PAYER })).toMatchObject({ ok: true, sponsored: false });
});

test('a transfer that does not name its mint pays only who pays the fee itself', () => {
  const [from, to] = [accountOf(PAYER), accountOf(SELLER)].map((it) => new PublicKey(it)) as [PublicKey, PublicKey];
  const unchecked = createTransferInstruction(from, to, payer.publicKey, 100n);
  expect(verdict([unchecked], { feePayer: PAYER })).toEqual({ ok: true, payer: PAYER, sponsored: false, first });
  expect(verdict([unchecked])).toEqual(refused('invalid_exact_svm_payload_unknown_optional_instruction'));
});

test('only the payer may be the authority where we pay the fee', () => {
  const { programId, keys, data } = pay(SELLER);
  const others = keys.map((it, index) =>
    index === 3 ? { ...it, pubkey: new PublicKey(STRANGER), isSigner: false } : it,
  );
  expect(verdict([{ programId, keys: others, data }, SIGNED])).toEqual(
    refused('invalid_exact_svm_payload_excessive_signers'),
  );
});

test.each([
  [24, true],
  [25, false],
])('of instructions there may be 24: %d', (count, good) => {
  const more = Array.from({ length: count - 1 }, () => guard(2));
  const reason = 'invalid_exact_svm_payload_transaction_instructions_length';
  expect(verdict([pay(SELLER), ...more])).toEqual(
    good ? { ok: true, payer: PAYER, sponsored: true, first } : refused(reason),
  );
});
