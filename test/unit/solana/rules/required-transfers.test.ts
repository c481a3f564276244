import { Keypair } from '@solana/web3.js';
import {
  isPaidFor,
  type Movement,
  matchLegs,
  movementsOf,
  type RequiredTransfers,
  receivingAccount,
} from '../../../../src/solana/rules/required-transfers.js';
import { associatedTokenAddress } from '../../../../src/solana/transaction/associated-token.js';
import type { PlainInstruction } from '../../../../src/solana/transaction/instructions.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';

const fresh = () => Keypair.generate().publicKey.toBase58();
const [MINT, OTHER_MINT, PAYER, SELLER, PARTNER] = Array.from({ length: 5 }, fresh) as [
  string,
  string,
  string,
  string,
  string,
];
const TOKENS: RequiredTransfers = {
  asset: MINT,
  tokenProgram: PROGRAMS.token,
  legs: [{ recipient: SELLER, amount: 5n }],
  reference: undefined,
  memo: undefined,
};
const SOL: RequiredTransfers = { ...TOKENS, asset: PROGRAMS.system, tokenProgram: PROGRAMS.system };

const MOVED: Movement = {
  source: 'source',
  destination: 'destination',
  authority: 'authority',
  amount: 5n,
  others: ['reference'],
};
const unchecked = { kind: 'unchecked-token-transfer', ...MOVED, program: PROGRAMS.token } as const;
const checked = { ...unchecked, kind: 'token-transfer', mint: MINT } as const;
const sol = {
  kind: 'sol-transfer',
  source: 'source',
  destination: 'destination',
  lamports: 5n,
  others: ['reference'],
} as const;
const OTHERS: readonly PlainInstruction[] = [
  { kind: 'other' },
  { kind: 'guard' },
  { kind: 'memo', data: Buffer.of(1) },
  { kind: 'compute-limit', units: 5 },
  { kind: 'create-token-account', funder: PAYER, account: 'destination', owner: SELLER, mint: MINT },
];

test.each<[string, PlainInstruction, readonly Movement[]]>([
  ['a checked transfer', checked, [MOVED]],
  ['a checked transfer of another mint', { ...checked, mint: OTHER_MINT }, []],
  ['a checked transfer of the other token program', { ...checked, program: PROGRAMS.token2022 }, []],
  ['a transfer that names no mint', unchecked, [MOVED]],
  ['one of the other token program', { ...unchecked, program: PROGRAMS.token2022 }, []],
  ['a transfer of SOL', sol, []],
])('what moves demanded tokens: %s', (_what, instruction, moved) => {
  expect(movementsOf([...OTHERS, instruction, ...OTHERS], TOKENS)).toEqual(moved);
});

test('only transfers of SOL move SOL, and who sends it signs for it', () => {
  const moved = { ...MOVED, authority: 'source' };
  expect(movementsOf([...OTHERS, checked, unchecked, sol], SOL)).toEqual([moved]);
});

test('movements keep their order', () => {
  const amounts = [3n, 1n, 2n];
  const found = movementsOf(
    amounts.map((amount) => ({ ...checked, amount })),
    TOKENS,
  );
  expect(found.map(({ amount }) => amount)).toEqual(amounts);
});

test('a wallet receives tokens in its associated token account, and SOL itself', () => {
  expect(receivingAccount(SELLER, TOKENS)).toBe(associatedTokenAddress(SELLER, MINT, PROGRAMS.token));
  expect(receivingAccount(SELLER, SOL)).toBe(SELLER);
});

const to = (recipient: string, amount: bigint, source = PAYER): Movement => ({
  source,
  destination: receivingAccount(recipient, TOKENS),
  authority: PAYER,
  amount,
  others: [],
});
const LEGS = [
  { recipient: SELLER, amount: 5n },
  { recipient: PARTNER, amount: 2n },
  { recipient: SELLER, amount: 2n },
];

test('each leg is paid by the first transfer of its own, in the order of the legs', () => {
  const [first, second] = [to(SELLER, 2n, fresh()), to(SELLER, 2n, fresh())];
  const movements = [to(SELLER, 1n), first, to(PARTNER, 2n), second, to(SELLER, 5n)];
  expect(matchLegs(movements, { ...TOKENS, legs: LEGS })).toEqual([to(SELLER, 5n), to(PARTNER, 2n), first]);
});

test.each([
  ['a leg is missing', [to(SELLER, 5n), to(PARTNER, 2n)]],
  ['a leg is paid to another', [to(SELLER, 5n), to(PARTNER, 2n), to(PARTNER, 2n)]],
  ['a leg is paid with another amount', [to(SELLER, 5n), to(PARTNER, 2n), to(SELLER, 3n)]],
  [
    'a leg is paid out of the account of another leg',
    [to(SELLER, 5n), to(PARTNER, 2n), to(SELLER, 2n, receivingAccount(PARTNER, TOKENS))],
  ],
])('not paid: %s', (_what, movements) => {
  expect(matchLegs(movements, { ...TOKENS, legs: LEGS })).toBeUndefined();
});

test('one transfer does not pay two legs to the same wallet', () => {
  const legs = [5n, 5n].map((amount) => ({ recipient: SELLER, amount }));
  expect(matchLegs([to(SELLER, 5n)], { ...TOKENS, legs })).toBeUndefined();
  expect(matchLegs([to(SELLER, 5n), to(SELLER, 5n)], { ...TOKENS, legs })).toHaveLength(2);
});

describe('a payment is for its request', () => {
  const naming = (...others: string[]): Movement => ({ ...MOVED, others });
  const demand = { ...TOKENS, reference: 'own' };

  test.each<[string, readonly Movement[], boolean]>([
    ['its reference is the only account beside', [naming('own')], true],
    ['other accounts come before it', [naming('a', 'b', 'own')], true],
    ['of several transfers the first names it', [naming('own'), naming()], true],
    ['each of them does', [naming('own'), naming('own')], true],
    ['the signers of a multisig account are named beside', [naming('signer', 'own'), naming('signer')], true],
    ['nothing is named', [naming()], false],
    ['another reference comes after it', [naming('own', 'foreign')], false],
    ['only a later transfer names it', [naming(), naming('own')], false],
    ['a later transfer names another', [naming('own'), naming('foreign')], false],
  ])('%s: %#', (_what, paid, expected) => {
    expect(isPaidFor(paid, demand, ['payer', 'signer'])).toBe(expected);
  });

  test('where no reference is asked for, none is looked at', () => {
    expect(isPaidFor([naming('foreign')], TOKENS, ['payer'])).toBe(true);
  });
});
