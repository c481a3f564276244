import { createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { plainTransfers } from '../../../../src/solana/landed/plain-transfers.js';
import { readLandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { buildDraft } from '../../../helpers/transactions/draft.js';
import {
  handOver,
  memo,
  type TransferParts,
  transferChecked,
  transferCheckedWithFee,
} from '../../../helpers/transactions/raw-instructions.js';
import { type ToldOutcome, type ToldTokens, toldOf } from '../../../helpers/transactions/told.js';

const fresh = () => Keypair.generate().publicKey.toBase58();
const payer = Keypair.generate();
const PAYER = payer.publicKey.toBase58();
const [SELLER, MINT, SOURCE, DESTINATION, OTHER] = Array.from({ length: 5 }, fresh) as [
  string,
  string,
  string,
  string,
  string,
];

const TRANSFER: TransferParts = {
  source: SOURCE,
  mint: MINT,
  destination: DESTINATION,
  authority: PAYER,
  amount: 100n,
  decimals: 2,
  program: PROGRAMS.token2022,
};

/** The transfer whose tokens both sides tell of: 100 left, `arrived` came. */
const FROM: ToldTokens = { address: SOURCE, mint: MINT, owner: PAYER, decimals: 2, before: 500n, after: 400n };
const TO: ToldTokens = { address: DESTINATION, mint: MINT, owner: SELLER, decimals: 2, before: 7n, after: 107n };
const EXPECTED = { asset: MINT, amount: 100n, decimals: 2, from: PAYER, to: SELLER };

function transfersOf(instructions: readonly TransactionInstruction[], outcome: ToldOutcome = {}) {
  const bytes = buildDraft({ version: 0, feePayer: PAYER, blockhash: fresh(), instructions, signers: [payer] });
  return plainTransfers(readLandedTransaction(toldOf(bytes, outcome))!);
}

function sol(lamports: bigint, to = SELLER): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: new PublicKey(to), lamports });
}

/** A transfer that does not name its mint. */
function unchecked({ source, destination, amount, program }: TransferParts): TransactionInstruction {
  const accounts = [source, destination].map((it) => new PublicKey(it)) as [PublicKey, PublicKey];
  return createTransferInstruction(...accounts, payer.publicKey, amount, [], new PublicKey(program));
}

test('SOL moves from wallet to wallet', () => {
  const moved = { asset: PROGRAMS.system, amount: 7n, decimals: 9, from: PAYER, to: SELLER };
  expect(transfersOf([sol(7n)])).toEqual([moved]);
});

test.each([
  ['with its mint', transferChecked, PROGRAMS.token],
  ['with its mint, of Token-2022', transferChecked, PROGRAMS.token2022],
  ['without its mint', unchecked, PROGRAMS.token],
  ['without its mint, of Token-2022', unchecked, PROGRAMS.token2022],
])('tokens move from owner to owner: %s', (_how, build, program) => {
  expect(transfersOf([build({ ...TRANSFER, program })], { tokens: [FROM, TO] })).toEqual([EXPECTED]);
});

test('transfers are told in their order, inner ones after the instruction that made them, and nothing else is', () => {
  const program = PROGRAMS.token;
  const instructions = [sol(1n), memo('hello', [SOURCE, DESTINATION, PROGRAMS.token]), sol(3n, OTHER)];
  const inner = { 1: [transferChecked({ ...TRANSFER, program }), sol(2n)] };
  const moved = transfersOf([...instructions, memo('', [MINT])], { tokens: [FROM, TO], inner });
  expect(moved.map(({ asset, amount, to }) => [asset, amount, to])).toEqual([
    [PROGRAMS.system, 1n, SELLER],
    [MINT, 100n, SELLER],
    [PROGRAMS.system, 2n, SELLER],
    [PROGRAMS.system, 3n, OTHER],
  ]);
});

test('what is not told of one side is taken from the other, and wallets from the instruction', () => {
  const { owner: _payer, ...fromNobody } = FROM;
  const { owner: _seller, ...toNobody } = TO;
  const told = (...tokens: ToldTokens[]) => transfersOf([transferChecked(TRANSFER)], { tokens });
  expect(told(FROM)).toEqual([{ ...EXPECTED, to: DESTINATION }]);
  expect(told(TO)).toEqual([EXPECTED]);
  expect(told(fromNobody, toNobody)).toEqual([{ ...EXPECTED, to: DESTINATION }]);
});

test('who signed for the money is who it came from, whoever owns the account it was taken from, or gets it later', () => {
  const told = (from: ToldTokens) => transfersOf([transferChecked(TRANSFER)], { tokens: [from, TO] });
  expect(told({ ...FROM, owner: OTHER })).toEqual([EXPECTED]);
  expect(told({ ...FROM, laterOwner: OTHER })).toEqual([EXPECTED]);
});

test('an account that changes hands names no wallet', () => {
  const handed = { ...EXPECTED, to: DESTINATION };
  const move = transferChecked(TRANSFER);
  expect(transfersOf([move], { tokens: [FROM, { ...TO, owner: OTHER, laterOwner: SELLER }] })).toEqual([handed]);
  expect(transfersOf([move, handOver(DESTINATION, SELLER)], { tokens: [FROM, TO] })).toEqual([handed]);
});

test('a transfer that names the fee of its mint is one of what arrives', () => {
  const move = transferCheckedWithFee(TRANSFER, 3n);
  expect(transfersOf([move])).toEqual([]);
  expect(transfersOf([move], { tokens: [FROM, { ...TO, after: 104n }] })).toEqual([{ ...EXPECTED, amount: 97n }]);
  expect(transfersOf([move, move], { tokens: [FROM, TO] })[1]).toEqual({ ...EXPECTED, amount: 97n });
});

test('a transfer that does not name its mint is of that of the account that paid', () => {
  const mint = fresh();
  const tokens = [{ ...FROM, mint, decimals: 5 }, TO];
  const expected = { ...EXPECTED, asset: mint, decimals: 5 };
  expect(transfersOf([unchecked(TRANSFER)], { tokens })).toEqual([expected]);
  expect(transfersOf([transferChecked(TRANSFER)], { tokens })).toEqual([{ ...expected, asset: MINT }]);
});

test('a transfer between accounts of which nothing is told is left out', () => {
  expect(transfersOf([transferChecked(TRANSFER), sol(1n)])).toHaveLength(1);
});

const AGAIN = { ...TRANSFER, source: OTHER, amount: 5n };
const OUT = { ...TRANSFER, source: DESTINATION, destination: OTHER, amount: 5n };
const ELSEWHERE = { ...TRANSFER, destination: OTHER, amount: 5n };

test.each([
  ['a mint of Token-2022 that keeps a fee', TRANSFER, [], 98n, 98n],
  ['a fee that leaves one unit', TRANSFER, [], 1n, 1n],
  ['no fee', TRANSFER, [], 100n, 100n],
  ['more than was sent', TRANSFER, [], 101n, 100n],
  ['nothing more than before', TRANSFER, [], 0n, 100n],
  ['less than before', TRANSFER, [], -1n, 100n],
  ['a token without fees', { ...TRANSFER, program: PROGRAMS.token }, [], 98n, 100n],
  ['another transfer to the account', TRANSFER, [AGAIN], 98n, 100n],
  ['another transfer out of the account', TRANSFER, [OUT], 98n, 100n],
  ['the same transfer twice', TRANSFER, [TRANSFER], 98n, 100n],
  ['another transfer to somebody else', TRANSFER, [ELSEWHERE], 98n, 98n],
])(
  'what arrived is what the account holds more, where that tells a fee: %s',
  (_what, transfer, others, gain, amount) => {
    const tokens = [FROM, { ...TO, after: 7n + gain }];
    const [first] = transfersOf([transfer, ...others].map(transferChecked), { tokens });
    expect(first).toEqual({ ...EXPECTED, amount });
  },
);

test('SOL that is sent to the account beside tells nothing of its tokens', () => {
  const tokens = [FROM, { ...TO, after: 105n }];
  const [first] = transfersOf([transferChecked(TRANSFER), sol(5n, DESTINATION)], { tokens });
  expect(first).toEqual({ ...EXPECTED, amount: 98n });
});

test('a payment to oneself is told with the amount that was sent', () => {
  const [moved] = transfersOf([transferChecked({ ...TRANSFER, destination: SOURCE })], {
    tokens: [{ ...FROM, before: 400n, after: 450n }],
  });
  expect(moved).toEqual({ ...EXPECTED, amount: 50n, to: PAYER });
});
