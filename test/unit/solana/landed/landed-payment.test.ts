import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { SOL_MINT } from '../../../../src/protocol/networks/tokens.js';
import { readLandedPayment } from '../../../../src/solana/landed/landed-payment.js';
import { readLandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import type { RequiredTransfers } from '../../../../src/solana/rules/required-transfers.js';
import { associatedTokenAddress } from '../../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { buildDraft } from '../../../helpers/transactions/draft.js';
import {
  handOver,
  memo,
  transferChecked,
  transferCheckedWithFee,
} from '../../../helpers/transactions/raw-instructions.js';
import { type ToldOutcome, toldOf } from '../../../helpers/transactions/told.js';

const fresh = () => Keypair.generate().publicKey.toBase58();
const payer = Keypair.generate();
const PAYER = payer.publicKey.toBase58();
const [SELLER, PARTNER, MINT, REFERENCE] = Array.from({ length: 4 }, fresh) as [string, string, string, string];
const accountOf = (owner: string) => associatedTokenAddress(owner, MINT, PROGRAMS.token);

const TOKENS: RequiredTransfers = {
  asset: MINT,
  tokenProgram: PROGRAMS.token,
  legs: [{ recipient: SELLER, amount: 100n }],
  reference: undefined,
  memo: undefined,
};
const SOL: RequiredTransfers = { ...TOKENS, asset: PROGRAMS.system, tokenProgram: '' };

function pay(recipient: string, amount: bigint): TransactionInstruction {
  const [source, destination] = [accountOf(PAYER), accountOf(recipient)];
  const parts = { source, mint: MINT, destination, authority: PAYER, amount, decimals: 6, program: PROGRAMS.token };
  return transferChecked(parts);
}

function paySol(recipient: string, lamports: bigint): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: new PublicKey(recipient), lamports });
}

/** What a wallet's token account held before and after. */
function held(owner: string, before: bigint, after: bigint, mayspend = owner) {
  return { address: accountOf(owner), mint: MINT, owner: mayspend, before, after };
}

const PAID: ToldOutcome = { tokens: [held(PAYER, 500n, 400n), held(SELLER, 5n, 105n)] };

function verdict(
  demand: RequiredTransfers,
  instructions: readonly TransactionInstruction[],
  outcome: ToldOutcome = {},
) {
  const bytes = buildDraft({ version: 0, feePayer: PAYER, blockhash: fresh(), instructions, signers: [payer] });
  return readLandedPayment(readLandedTransaction(toldOf(bytes, outcome))!, demand);
}

const refused = (reason: string) => ({ ok: false, reason });
const GOOD = { ok: true, payer: PAYER };

test('a transfer of what is asked for pays, and the payer is told', () => {
  expect(verdict(TOKENS, [pay(SELLER, 100n)], PAID)).toEqual(GOOD);
});

test.each([
  ['a delegate signs for it', { owner: fresh() }],
  ['another wallet gets the account afterwards', { laterOwner: fresh() }],
])('who signed for the money is the payer, and not who owns what it was taken from: %s', (_what, owners) => {
  const tokens = [{ ...held(PAYER, 500n, 400n), ...owners }, held(SELLER, 0n, 100n)];
  expect(verdict(TOKENS, [pay(SELLER, 100n)], { tokens })).toEqual(GOOD);
});

test('where nothing is told of the account that paid, who signed is the payer', () => {
  expect(verdict(TOKENS, [pay(SELLER, 100n)], { tokens: [held(SELLER, 0n, 100n)] })).toEqual(GOOD);
});

const NOT_RECEIVED = refused('invalid_transfer_not_received');

test.each([
  ['it was another wallet before', { owner: PARTNER, laterOwner: SELLER }],
  ['it is another wallet after', { laterOwner: PARTNER }],
  ['it is another wallet all the time', { owner: PARTNER }],
])('the account that is paid has to be the recipient, before and after: %s', (_what, owners) => {
  const tokens = [held(PAYER, 500n, 400n), { ...held(SELLER, 5n, 105n), ...owners }];
  expect(verdict(TOKENS, [pay(SELLER, 100n)], { tokens })).toEqual(NOT_RECEIVED);
});

test('an account that is handed over proves nothing, also to whom it belonged', () => {
  const given = handOver(accountOf(SELLER), SELLER, { by: PAYER });
  expect(verdict(TOKENS, [pay(SELLER, 100n), given], PAID)).toEqual(NOT_RECEIVED);
  const elsewhere = handOver(accountOf(PARTNER), SELLER, { by: PAYER });
  expect(verdict(TOKENS, [pay(SELLER, 100n), elsewhere], PAID)).toEqual(GOOD);
});

test.each([
  ['as much', 100n, false],
  ['a part', 1n, false],
  ['nothing', 0n, true],
])('what leaves another account of the recipient is taken off: %s', (_what, lost, good) => {
  const [other, tokens] = [fresh(), [...(PAID.tokens ?? [])]];
  const side = { address: other, mint: MINT, owner: SELLER, before: 200n, after: 200n - lost };
  const instructions = [pay(SELLER, 100n), memo('', [other])];
  const found = verdict(TOKENS, instructions, { tokens: [...tokens, side] });
  expect(found).toEqual(good ? GOOD : NOT_RECEIVED);
});

test('what comes into another account of the recipient does not make up for the one that is paid', () => {
  const other = fresh();
  const side = { address: other, mint: MINT, owner: SELLER, before: 0n, after: 100n };
  const tokens = [held(PAYER, 500n, 400n), held(SELLER, 5n, 5n), side];
  expect(verdict(TOKENS, [pay(SELLER, 100n), memo('', [other])], { tokens })).toEqual(NOT_RECEIVED);
});

describe('a mint that keeps a fee', () => {
  const program = PROGRAMS.token2022;
  const demand = { ...TOKENS, tokenProgram: program };
  const at = (owner: string) => associatedTokenAddress(owner, MINT, program);
  const parts = (amount: bigint) => {
    const [source, destination] = [at(PAYER), at(SELLER)];
    return { source, mint: MINT, destination, authority: PAYER, amount, decimals: 6, program };
  };
  const arrived = (amount: bigint) => ({
    tokens: [{ address: at(SELLER), mint: MINT, owner: SELLER, before: 5n, after: 5n + amount }],
  });

  test.each([
    ['all arrives', 100n, 100n, GOOD],
    ['less arrives', 100n, 98n, refused('invalid_transfer_leg_missing')],
    ['more is sent, so that it arrives', 102n, 100n, GOOD],
    ['more is sent, and more arrives', 102n, 102n, refused('invalid_transfer_leg_missing')],
  ])('a leg is what arrives: %s', (_what, sent, came, expected) => {
    expect(verdict(demand, [transferChecked(parts(sent))], arrived(came))).toEqual(expected);
    const named = transferCheckedWithFee(parts(sent), sent - came);
    expect(verdict(demand, [named], arrived(came))).toEqual(expected);
  });

  test.each([
    ['more is sent than was asked for, and less arrives', 101n, 99n, refused('invalid_transfer_leg_missing')],
    ['more is sent, and more arrives', 110n, 105n, GOOD],
  ])('so it is where the reference is named: %s', (_what, sent, came, expected) => {
    const named = transferChecked(parts(sent));
    named.keys.push({ pubkey: new PublicKey(REFERENCE), isSigner: false, isWritable: false });
    expect(verdict({ ...demand, reference: REFERENCE }, [named], arrived(came))).toEqual(expected);
  });
});

test('a transfer that another instruction makes pays too', () => {
  const outer = memo('', [accountOf(PAYER), accountOf(SELLER), MINT, PROGRAMS.token]);
  expect(verdict(TOKENS, [outer], { ...PAID, inner: { 0: [pay(SELLER, 100n)] } })).toEqual(GOOD);
});

test('a transaction that failed pays nobody', () => {
  const err = { InstructionError: [0, { Custom: 1 }] };
  const reason = 'invalid_exact_svm_transaction_failed';
  expect(verdict(TOKENS, [pay(SELLER, 100n)], { ...PAID, err })).toEqual(refused(reason));
});

test('the reference that is asked for has to be named', () => {
  const demand = { ...TOKENS, reference: REFERENCE };
  const reason = 'invalid_transfer_reference_missing';
  expect(verdict(demand, [pay(SELLER, 100n)], PAID)).toEqual(refused(reason));
  const misplaced = refused('invalid_transfer_reference_misplaced');
  expect(verdict(demand, [pay(SELLER, 100n), memo('', [REFERENCE])], PAID)).toEqual(misplaced);
  const named = pay(SELLER, 100n);
  named.keys.push({ pubkey: new PublicKey(REFERENCE), isSigner: false, isWritable: false });
  expect(verdict(demand, [named], PAID)).toEqual(GOOD);
});

function naming(name: string, to: string, amount: bigint): TransactionInstruction {
  const instruction = pay(to, amount);
  instruction.keys.push({ pubkey: new PublicKey(name), isSigner: false, isWritable: false });
  return instruction;
}

describe('a transfer that names the reference may be more than was asked for', () => {
  const demand = { ...TOKENS, reference: REFERENCE };
  const LEG_MISSING = refused('invalid_transfer_leg_missing');
  const MISPLACED = refused('invalid_transfer_reference_misplaced');
  const got = (amount: bigint, partner = 0n): ToldOutcome => ({
    tokens: [
      held(PAYER, 900n, 900n - amount - partner),
      held(SELLER, 5n, 5n + amount),
      held(PARTNER, 5n, 5n + partner),
    ],
  });
  const two = { ...demand, legs: [...demand.legs, { recipient: PARTNER, amount: 10n }] };
  const twice = { ...demand, legs: [...demand.legs, { recipient: SELLER, amount: 200n }] };

  test.each<[string, RequiredTransfers, readonly TransactionInstruction[], ToldOutcome, object]>([
    ['half more', demand, [naming(REFERENCE, SELLER, 150n)], got(150n), GOOD],
    ['one unit less', demand, [naming(REFERENCE, SELLER, 99n)], got(99n), LEG_MISSING],
    ['less, in one of two parts', demand, [naming(REFERENCE, SELLER, 60n), pay(SELLER, 60n)], got(120n), LEG_MISSING],
    ['more, of which too much goes back', demand, [naming(REFERENCE, SELLER, 150n)], got(99n), NOT_RECEIVED],
    [
      'more, for another reference',
      demand,
      [naming(PARTNER, SELLER, 150n), memo('', [REFERENCE])],
      got(150n),
      LEG_MISSING,
    ],
    ['more, for nothing that is named', demand, [pay(SELLER, 150n), memo('', [REFERENCE])], got(150n), LEG_MISSING],
    [
      'more for another one, and more for this one',
      demand,
      [naming(PARTNER, SELLER, 300n), naming(REFERENCE, SELLER, 150n)],
      got(450n),
      GOOD,
    ],
    ['more for the first of two legs', two, [naming(REFERENCE, SELLER, 150n), pay(PARTNER, 10n)], got(150n, 10n), GOOD],
    [
      'more for the second without its name',
      two,
      [naming(REFERENCE, SELLER, 100n), pay(PARTNER, 11n)],
      got(100n, 11n),
      LEG_MISSING,
    ],
    ['as much as both legs, to the first recipient', two, [naming(REFERENCE, SELLER, 110n)], got(110n), LEG_MISSING],
    ['as much as both legs of one recipient, in one', twice, [naming(REFERENCE, SELLER, 300n)], got(300n), LEG_MISSING],
    [
      'both legs of one recipient, the larger first',
      twice,
      [naming(REFERENCE, SELLER, 200n), naming(REFERENCE, SELLER, 100n)],
      got(300n),
      GOOD,
    ],
  ])('%s', (_what, wanted, instructions, outcome, expected) => {
    expect(verdict(wanted, instructions, outcome)).toEqual(expected);
  });

  test('but its last account has to be the reference of this payment, exact or not', () => {
    const outcome = got(100n);
    expect(verdict(demand, [naming(PARTNER, SELLER, 100n), memo('', [REFERENCE])], outcome)).toEqual(MISPLACED);
  });
});

test.each([
  ['none', [], false],
  ['another', [memo('order 8')], false],
  ['one that goes on', [memo('order 7 ')], false],
  ['the one', [memo('order 7')], true],
  ['the one beside another', [memo('order 8'), memo('order 7')], true],
])('the memo that is asked for has to be there: %s', (_what, memos, good) => {
  const reason = 'invalid_exact_svm_payload_memo_mismatch';
  const demand = { ...TOKENS, memo: 'order 7' };
  expect(verdict(demand, [pay(SELLER, 100n), ...memos], PAID)).toEqual(good ? GOOD : refused(reason));
});

test('the bytes of the memo in another instruction are no memo', () => {
  const { programId, keys, data } = pay(SELLER, 100n);
  const demand = { ...TOKENS, memo: data.toString('latin1') };
  expect(Buffer.from(demand.memo)).toEqual(data);
  const reason = 'invalid_exact_svm_payload_memo_mismatch';
  expect(verdict(demand, [{ programId, keys, data }], PAID)).toEqual(refused(reason));
});

test.each([
  ['nothing moves', []],
  ['less moves', [pay(SELLER, 99n)]],
  ['more moves', [pay(SELLER, 101n)]],
  ['it moves to another wallet', [pay(PARTNER, 100n)]],
  ['it moves in two parts', [pay(SELLER, 50n), pay(SELLER, 50n)]],
  ['SOL moves in its place', [paySol(accountOf(SELLER), 100n)]],
])('every leg needs its transfer: %s', (_what, instructions) => {
  const reason = 'invalid_transfer_leg_missing';
  expect(verdict(TOKENS, [...instructions, memo('')], PAID)).toEqual(refused(reason));
});

test('a demand without legs is paid by nothing', () => {
  const reason = 'invalid_transfer_leg_missing';
  expect(verdict({ ...TOKENS, legs: [] }, [memo('')])).toEqual(refused(reason));
});

test.each([
  ['all of it', 5n, 105n, true],
  ['more', 5n, 106n, true],
  ['one unit less', 5n, 104n, false],
  ['nothing', 105n, 105n, false],
])('the recipient has to hold the amount afterwards: %s', (_what, before, after, good) => {
  const tokens = [held(PAYER, 500n, 400n), held(SELLER, before, after)];
  const reason = 'invalid_transfer_not_received';
  expect(verdict(TOKENS, [pay(SELLER, 100n)], { tokens })).toEqual(good ? GOOD : refused(reason));
});

test('an account that was closed in the same transaction has received nothing', () => {
  const reason = 'invalid_transfer_not_received';
  expect(verdict(TOKENS, [pay(SELLER, 100n)], { tokens: [held(PAYER, 500n, 400n)] })).toEqual(refused(reason));
});

test.each([
  ['all of them', 100n, 20n, true],
  ['all but the first', 99n, 20n, false],
  ['all but the last', 100n, 19n, false],
])('each recipient has to hold the amount: %s', (_what, first, last, good) => {
  const legs = [
    { recipient: SELLER, amount: 100n },
    { recipient: PARTNER, amount: 20n },
  ];
  const tokens = [held(PAYER, 500n, 380n), held(SELLER, 0n, first), held(PARTNER, 0n, last)];
  const reason = 'invalid_transfer_not_received';
  const found = verdict({ ...TOKENS, legs }, [pay(PARTNER, 20n), pay(SELLER, 100n)], { tokens });
  expect(found).toEqual(good ? GOOD : refused(reason));
});

test.each([
  [120n, true],
  [119n, false],
])('two legs to one wallet are owed together: %d', (after, good) => {
  const legs = [100n, 20n].map((amount) => ({ recipient: SELLER, amount }));
  const tokens = [held(SELLER, 0n, after)];
  const reason = 'invalid_transfer_not_received';
  const found = verdict({ ...TOKENS, legs }, [pay(SELLER, 100n), pay(SELLER, 20n)], { tokens });
  expect(found).toEqual(good ? GOOD : refused(reason));
});

test.each([
  ['all of it', [5, 105], true],
  ['one lamport less', [5, 104], false],
  ['an amount that is not known exactly', [2 ** 60, 2 ** 60], true],
] as const)('a recipient of SOL has to hold it afterwards: %s', (_what, lamports, good) => {
  const found = verdict(SOL, [paySol(SELLER, 100n)], { lamports: { [SELLER]: lamports } });
  expect(found).toEqual(good ? GOOD : refused('invalid_transfer_not_received'));
});

test('the network fee is taken from who paid it alone, so that it counts as received', () => {
  const seller = Keypair.generate();
  const recipient = seller.publicKey.toBase58();
  const demand = { ...SOL, legs: [{ recipient, amount: 6_000n }] };
  const draft = { version: 0, blockhash: fresh(), instructions: [paySol(recipient, 6_000n)] } as const;
  const found = (feePayer: string, after: number) => {
    const bytes = buildDraft({ ...draft, feePayer, signers: [payer, seller] });
    const outcome = { fee: 5_000, lamports: { [recipient]: [10_000, after] as const } };
    return readLandedPayment(readLandedTransaction(toldOf(bytes, outcome))!, demand).ok;
  };
  expect([found(recipient, 11_000), found(recipient, 10_999)]).toEqual([true, false]);
  expect([found(PAYER, 16_000), found(PAYER, 11_000)]).toEqual([true, false]);
});

test('SOL is one money: what is given in the one form and taken back in the other pays nothing', () => {
  const wrapped = associatedTokenAddress(SELLER, SOL_MINT, PROGRAMS.token);
  const parts = { source: wrapped, mint: SOL_MINT, destination: accountOf(PAYER), authority: PAYER };
  const back = transferChecked({ ...parts, amount: 100n, decimals: 9, program: PROGRAMS.token });
  const lamports = { [SELLER]: [500, 600] } as const;
  const told = (before: bigint, after: bigint) => ({
    lamports,
    tokens: [{ address: wrapped, mint: SOL_MINT, owner: SELLER, before, after }],
  });
  const instructions = [paySol(SELLER, 100n), back];
  expect(verdict(SOL, instructions, told(100n, 0n))).toEqual(refused('invalid_transfer_not_received'));
  expect(verdict(SOL, instructions, told(100n, 99n))).toEqual(refused('invalid_transfer_not_received'));
  expect(verdict(SOL, instructions, told(100n, 100n))).toEqual(GOOD);
  expect(verdict(SOL, instructions, told(100n, 200n))).toEqual(GOOD);
});
