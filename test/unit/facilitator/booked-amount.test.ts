import { Keypair } from '@solana/web3.js';
import { amountFault } from '../../../src/facilitator/booked-amount.js';
import type { Terms } from '../../../src/protocol/types.js';
import { associatedTokenAddress } from '../../../src/solana/associated-token.js';
import { NATIVE_SOL, PROGRAMS } from '../../../src/solana/programs.js';
import type { Instruction } from '../../../src/solana/transaction.js';
import { landedAs, newRequest, paying } from '../../helpers/payment-service-fixture.js';

const newAddress = () => Keypair.generate().publicKey.toBase58();
const [MINT, OTHER_MINT, PAYER, SELLER, STRANGER] = Array.from({ length: 5 }, newAddress) as [
  string,
  string,
  string,
  string,
  string,
];
const AT_SELLER = associatedTokenAddress(SELLER, MINT, PROGRAMS.token);
const AT_SELLER_2022 = associatedTokenAddress(SELLER, MINT, PROGRAMS.token2022);
const AT_STRANGER = associatedTokenAddress(STRANGER, MINT, PROGRAMS.token);
const OTHER_AT_SELLER = associatedTokenAddress(SELLER, OTHER_MINT, PROGRAMS.token);

const MEMO: Instruction = { program: PROGRAMS.memo, accounts: [], data: Buffer.from('thanks') };

function sol(destination: string, lamports: bigint): Instruction {
  const data = Buffer.alloc(12);
  data.writeUInt32LE(2);
  data.writeBigUInt64LE(lamports, 4);
  return { program: PROGRAMS.system, accounts: [PAYER, destination], data };
}

function unchecked(destination: string, amount: bigint, program: string = PROGRAMS.token): Instruction {
  const data = Buffer.alloc(9, 3);
  data.writeBigUInt64LE(amount, 1);
  return { program, accounts: [newAddress(), destination, PAYER], data };
}

function checked(destination: string, amount: bigint, mint = MINT, program: string = PROGRAMS.token): Instruction {
  const data = Buffer.alloc(10, 12);
  data.writeBigUInt64LE(amount, 1);
  return { program, accounts: [newAddress(), mint, destination, PAYER], data };
}

const REQUEST = newRequest(0);
const { decoded } = paying(REQUEST);
const ID = decoded.messageHash;
const ANOTHER = 'the transaction is another one than the payment';

function held(mint: string) {
  return { mint, ownerBefore: undefined, ownerAfter: undefined, decimals: 6, before: 0n, after: 0n };
}

function termsOf(scheme: string, asset: string): Terms {
  return { scheme, network: 'solana-devnet', asset, amount: 100n, payTo: SELLER, maxTimeoutSeconds: 60 };
}

/** What is wrong with a transaction of these instructions that is booked for 100 units. */
function faultOf(scheme: string, asset: string, instructions: readonly Instruction[]) {
  const tokenAccounts = new Map([
    ...[AT_SELLER, AT_SELLER_2022, AT_STRANGER].map((it) => [it, held(MINT)] as const),
    [OTHER_AT_SELLER, held(OTHER_MINT)] as const,
  ]);
  const landed = landedAs(decoded, { instructions, tokenAccounts });
  return amountFault(landed, { id: ID, terms: termsOf(scheme, asset) }, undefined);
}

const pays = (paid: number) => (paid >= 100 ? undefined : `the transaction pays ${paid} of 100 atomic units`);

describe('a booked payment by its terms alone', () => {
  test.each<[string, string, string, readonly Instruction[], number]>([
    ['SOL to the seller', 'exact', NATIVE_SOL, [sol(SELLER, 100n)], 100],
    ['a lamport less', 'exact', NATIVE_SOL, [sol(SELLER, 99n)], 99],
    ['more', 'exact', NATIVE_SOL, [sol(SELLER, 101n)], 101],
    ['SOL in two parts', 'exact', NATIVE_SOL, [sol(SELLER, 60n), MEMO, sol(SELLER, 40n)], 100],
    ['SOL to a stranger', 'exact', NATIVE_SOL, [sol(STRANGER, 100n), sol(SELLER, 1n)], 1],
    ['a token for SOL', 'exact', NATIVE_SOL, [checked(AT_SELLER, 100n)], 0],
    ['nothing', 'exact', NATIVE_SOL, [MEMO], 0],
    ['a token to the seller', 'exact', MINT, [MEMO, checked(AT_SELLER, 100n)], 100],
    ['a unit less', 'exact', MINT, [checked(AT_SELLER, 99n)], 99],
    ['a token, plainly', 'exact', MINT, [unchecked(AT_SELLER, 100n)], 100],
    ['a token of Token-2022', 'exact', MINT, [checked(AT_SELLER_2022, 100n, MINT, PROGRAMS.token2022)], 100],
    ['a token to a stranger', 'exact', MINT, [checked(AT_STRANGER, 100n), checked(AT_SELLER, 2n)], 2],
    ['SOL for a token', 'exact', MINT, [sol(SELLER, 100n), sol(AT_SELLER, 100n)], 0],
    ['SOL that was asked for, to anybody', 'transfer', NATIVE_SOL, [sol(STRANGER, 60n), sol(SELLER, 40n), MEMO], 100],
    ['tokens for SOL that was asked for', 'transfer', NATIVE_SOL, [checked(AT_SELLER, 100n)], 0],
    [
      'a token that was asked for, to anybody',
      'transfer',
      MINT,
      [checked(AT_STRANGER, 60n), unchecked(AT_SELLER, 40n)],
      100,
    ],
    [
      'another token, plainly or not',
      'transfer',
      MINT,
      [unchecked(OTHER_AT_SELLER, 100n), checked(OTHER_AT_SELLER, 100n, OTHER_MINT), MEMO],
      0,
    ],
    ['SOL for a token that was asked for', 'transfer', MINT, [sol(SELLER, 100n), sol(AT_SELLER, 100n), MEMO], 0],
    ['to what is no token account', 'transfer', MINT, [checked(STRANGER, 100n), unchecked(STRANGER, 100n)], 0],
  ])('counts: %s', (_, scheme, asset, instructions, paid) => {
    expect(faultOf(scheme, asset, instructions)).toBe(pays(paid));
  });

  test('is none when the transaction is another one, whatever that pays', () => {
    const landed = landedAs(decoded, { instructions: [sol(SELLER, 100n)] });
    const terms = termsOf('exact', NATIVE_SOL);
    expect(amountFault(landed, { id: `${ID}0`, terms }, undefined)).toBe(ANOTHER);
    expect(amountFault(landed, { id: ID, terms }, undefined)).toBeUndefined();
  });
});

test('a payment request that is known decides alone', () => {
  const arrived = (after: bigint) => landedAs(decoded, { lamports: new Map([[REQUEST.payTo, { before: 0n, after }]]) });
  const terms = { ...termsOf('transfer', NATIVE_SOL), amount: 1_000_000n };
  expect(amountFault(arrived(1_000n), { id: ID, terms }, REQUEST)).toBeUndefined();
  expect(amountFault(arrived(999n), { id: ID, terms: { ...terms, amount: 1n } }, REQUEST)).toBe(
    'the transaction does not pay its request: invalid_transfer_not_received',
  );
  expect(amountFault(arrived(1_000n), { id: 'other', terms }, REQUEST)).toBe(ANOTHER);
});
