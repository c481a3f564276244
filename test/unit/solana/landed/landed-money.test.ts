import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { SOL_MINT } from '../../../../src/protocol/networks/tokens.js';
import { gainedBy, keeperOf, moneyGainedBy, moneyMoved } from '../../../../src/solana/landed/landed-money.js';
import { receivedIn } from '../../../../src/solana/landed/received.js';
import { readLandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import { NATIVE_SOL, PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { buildDraft } from '../../../helpers/transactions/draft.js';
import { handOver, memo } from '../../../helpers/transactions/raw-instructions.js';
import { type ToldOutcome, type ToldTokens, toldOf } from '../../../helpers/transactions/told.js';

const fresh = () => Keypair.generate().publicKey.toBase58();
const payer = Keypair.generate();
const PAYER = payer.publicKey.toBase58();
const [SELLER, OTHER, MINT, ONE, TWO] = Array.from({ length: 5 }, fresh) as [string, string, string, string, string];
const FEE = 5_000;

/** A transaction that names some addresses. */
function landedWith(outcome: ToldOutcome, ...instructions: readonly TransactionInstruction[]) {
  const named = [SELLER, OTHER, ONE, TWO, MINT].map((it) => memo('', [it]));
  const all = [...named, ...instructions];
  const bytes = buildDraft({ version: 0, feePayer: PAYER, blockhash: MINT, instructions: all, signers: [payer] });
  return readLandedTransaction(toldOf(bytes, { fee: FEE, ...outcome }))!;
}

/** What is told to have moved, without the payer, who only pays the network fee. */
function movedIn(outcome: ToldOutcome, ...instructions: readonly TransactionInstruction[]) {
  const lamports = { [PAYER]: [FEE, 0], ...outcome.lamports } as const;
  const rows = moneyMoved(landedWith({ ...outcome, lamports }, ...instructions));
  return rows.map(({ asset, wallet, gained, decimals }) => [asset, wallet, gained, decimals]);
}

const account = (change: Partial<ToldTokens> = {}): ToldTokens => ({
  address: ONE,
  mint: MINT,
  owner: SELLER,
  ...change,
});

test.each<[string, ToldTokens[], unknown[]]>([
  ['more', [account({ before: 5n, after: 105n })], [[MINT, SELLER, 100n, 6]]],
  ['less', [account({ before: 105n, after: 5n })], [[MINT, SELLER, -100n, 6]]],
  ['the same', [account({ before: 5n, after: 5n })], []],
  ['opened', [account({ after: 100n })], [[MINT, SELLER, 100n, 6]]],
  ['opened and empty', [account({ after: 0n })], []],
  ['closed', [account({ before: 100n })], [[MINT, SELLER, -100n, 6]]],
  [
    'two accounts of a wallet',
    [account({ before: 100n, after: 0n }), account({ address: TWO, before: 5n, after: 35n })],
    [[MINT, SELLER, -70n, 6]],
  ],
  [
    'from one account of a wallet to another',
    [account({ before: 100n, after: 0n }), account({ address: TWO, after: 100n })],
    [],
  ],
  [
    'two wallets',
    [account({ before: 100n, after: 0n }), account({ address: TWO, owner: OTHER, after: 100n })],
    [
      [MINT, SELLER, -100n, 6],
      [MINT, OTHER, 100n, 6],
    ],
  ],
])('tokens of a wallet: %s', (_what, tokens, expected) => {
  expect(movedIn({ tokens })).toEqual(expected);
});

test.each<[string, ToldTokens, unknown[]]>([
  ['with what was in it', { ...account(), before: 100n, after: 100n }, [[MINT, SELLER, -100n, 6]]],
  ['with more', { ...account(), before: 100n, after: 300n }, [[MINT, SELLER, -100n, 6]]],
  ['empty, and filled then', { ...account(), before: 0n, after: 300n }, []],
])('who hands an account over has lost what was in it, and nobody gains: %s', (_what, told, expected) => {
  expect(movedIn({ tokens: [{ ...told, laterOwner: OTHER }] })).toEqual(expected);
});

test('an account that is opened and handed over in one transaction proves nothing', () => {
  const tokens = [account({ after: 100n })];
  expect(movedIn({ tokens }, handOver(ONE, SELLER, { by: PAYER }))).toEqual([]);
  expect(movedIn({ tokens }, handOver(TWO, SELLER, { by: PAYER }))).toEqual([[MINT, SELLER, 100n, 6]]);
});

test('the same where another instruction hands it over', () => {
  const inner = { 0: [handOver(ONE, SELLER, { by: PAYER, program: MINT })] };
  const real = { 0: [handOver(ONE, SELLER, { by: PAYER })] };
  const tokens = [account({ after: 100n })];
  const token = memo('', [PROGRAMS.token]);
  expect(movedIn({ tokens, inner }, token)).toEqual([[MINT, SELLER, 100n, 6]]);
  expect(movedIn({ tokens, inner: real }, token)).toEqual([]);
});

test('an account that comes back to its owner has gained nothing, and lost what is missing', () => {
  const around = [handOver(ONE, OTHER, { by: SELLER }), handOver(ONE, SELLER, { by: OTHER })];
  expect(movedIn({ tokens: [account({ before: 5n, after: 105n })] }, ...around)).toEqual([]);
  const left = movedIn({ tokens: [account({ before: 105n, after: 5n })] }, ...around);
  expect(left).toEqual([[MINT, SELLER, -100n, 6]]);
});

test('an owner that is not told is nobody', () => {
  const { owner: _owner, ...untold } = account({ before: 5n, after: 105n });
  expect(movedIn({ tokens: [untold] })).toEqual([]);
  expect(movedIn({ tokens: [{ ...untold, laterOwner: SELLER }] })).toEqual([]);
});

test('SOL is lamports, and the network fee is no part of it', () => {
  const moved = { [PAYER]: [10_000, 4_000], [SELLER]: [0, 1_000], [OTHER]: [7, 7] } as const;
  expect(movedIn({ lamports: moved })).toEqual([
    [PROGRAMS.system, PAYER, -1_000n, 9],
    [PROGRAMS.system, SELLER, 1_000n, 9],
  ]);
});

const RENT = 2_039_280;

test.each<[string, ToldTokens, readonly [number, number], unknown[]]>([
  ['rent that comes with an account', account({ after: 0n }), [0, RENT], []],
  ['rent that goes with one', account({ before: 0n }), [RENT, 0], []],
  ['lamports that become rent', account({ after: 0n }), [1_000, RENT], [[PROGRAMS.system, ONE, -1_000n, 9]]],
  ['lamports after an account is gone', account({ before: 0n }), [RENT, 900], [[PROGRAMS.system, ONE, 900n, 9]]],
  ['lamports sent to an account', account({ before: 0n, after: 0n }), [RENT, 2 * RENT], []],
])('lamports of a token account are nobody: %s', (_what, told, lamports, expected) => {
  expect(movedIn({ tokens: [told], lamports: { [ONE]: lamports } })).toEqual(expected);
});

test('wrapped SOL is a token: wrapping takes the one and gives the other', () => {
  const mint = 'So11111111111111111111111111111111111111112';
  const wrapped = account({ mint, decimals: 9, before: 0n, after: 500n });
  const lamports = { [SELLER]: [900, 400], [ONE]: [RENT, RENT + 500] } as const;
  expect(movedIn({ tokens: [wrapped], lamports })).toEqual([
    [mint, SELLER, 500n, 9],
    [PROGRAMS.system, SELLER, -500n, 9],
  ]);
});

const TOKENS = [account({ before: 5n, after: 105n })];

test('what failed moved nothing', () => {
  const landed = landedWith({ tokens: TOKENS, err: { InstructionError: [0, 'x'] }, lamports: { [SELLER]: [0, 5] } });
  expect(moneyMoved(landed)).toEqual([]);
  expect([MINT, PROGRAMS.system].map((asset) => gainedBy(landed, SELLER, asset))).toEqual([0n, 0n]);
});

test('one wallet and asset is asked for', () => {
  const landed = landedWith({ tokens: TOKENS, lamports: { [SELLER]: [0, 5], [OTHER]: [2 ** 60, 2 ** 60] } });
  expect(gainedBy(landed, SELLER, MINT)).toBe(100n);
  expect(gainedBy(landed, SELLER, PROGRAMS.system)).toBe(5n);
  expect(gainedBy(landed, OTHER, MINT)).toBe(0n);
  expect(gainedBy(landed, fresh(), PROGRAMS.system)).toBe(0n);
  expect(gainedBy(landed, OTHER, PROGRAMS.system)).toBeUndefined();
});

test('an account that became one of another mint has lost the one and gained the other', () => {
  const landed = landedWith({});
  const formerly = { mint: MINT, owner: SELLER, decimals: 6, amount: 70n };
  const now = { mint: TWO, decimals: 2, before: 0n, after: 4n, ownerBefore: undefined, ownerAfter: OTHER, formerly };
  const moved = moneyMoved({ ...landed, lamports: new Map(), tokenAccounts: new Map([[ONE, now]]) });
  expect(moved).toEqual([
    { asset: MINT, decimals: 6, wallet: SELLER, gained: -70n },
    { asset: TWO, decimals: 2, wallet: OTHER, gained: 4n },
  ]);
});

test('an account is kept by whose it was and is', () => {
  const keeper = (told: Partial<ToldTokens>, ...instructions: TransactionInstruction[]) =>
    keeperOf(landedWith({ tokens: [account(told)] }, ...instructions), ONE);
  expect(keeper({ before: 1n, after: 1n })).toBe(SELLER);
  expect([keeper({ after: 1n }), keeper({ before: 1n })]).toEqual([SELLER, SELLER]);
  expect(keeper({ before: 1n, after: 1n, laterOwner: OTHER })).toBeUndefined();
  expect(keeper({ after: 1n }, handOver(ONE, SELLER, { by: PAYER }))).toBeUndefined();
  expect(keeperOf(landedWith({}), ONE)).toBeUndefined();
});

test('SOL that is sent to oneself and back is nothing', () => {
  const self = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: new PublicKey(PAYER), lamports: 5 });
  expect(movedIn({}, self)).toEqual([]);
});

test('SOL is one money: what is taken back in the other form has not been gained', () => {
  const landed = (before: bigint, after: bigint) =>
    landedWith({
      lamports: { [SELLER]: [500, 600] },
      tokens: [account({ mint: SOL_MINT, decimals: 9, before, after })],
    });
  const shown = (before: bigint, after: bigint) => {
    const at = landed(before, after);
    const received = receivedIn(at).filter(({ to }) => to === SELLER);
    return [moneyGainedBy(at, SELLER, NATIVE_SOL), received.map(({ asset, amount }) => [asset, amount])];
  };
  expect(shown(100n, 0n)).toEqual([0n, []]);
  expect(shown(100n, 40n)).toEqual([40n, [[NATIVE_SOL, 40n]]]);
  expect(shown(0n, 30n)).toEqual([
    100n,
    expect.arrayContaining([
      [NATIVE_SOL, 100n],
      [SOL_MINT, 30n],
    ]),
  ]);
});
