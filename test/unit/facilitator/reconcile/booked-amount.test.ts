import { Keypair } from '@solana/web3.js';
import { bookedAmountFault, paysTerms } from '../../../../src/facilitator/reconcile/booked-amount.js';
import type { Terms } from '../../../../src/protocol/types.js';
import type { TouchedTokenAccount } from '../../../../src/solana/rpc/landed-transaction.js';
import type { Instruction } from '../../../../src/solana/transaction/instructions.js';
import { NATIVE_SOL, PROGRAMS } from '../../../../src/solana/transaction/programs.js';
import { landedAs, newRequest, paying } from '../../../helpers/fixtures/payment-service-fixture.js';

const newAddress = () => Keypair.generate().publicKey.toBase58();
const [MINT, OTHER_MINT, PAYER, SELLER, STRANGER] = Array.from({ length: 5 }, newAddress) as [
  string,
  string,
  string,
  string,
  string,
];
const REQUEST = newRequest(0);
const { decoded, payer: REQUESTED } = paying(REQUEST);
const ID = decoded.messageHash;
const ANOTHER = 'the transaction is another one than the payment';

/** What wallets hold more of a token, or of SOL. */
type Gains = readonly (readonly [wallet: string, asset: string, gained: bigint])[];

function landedWith(gains: Gains, instructions: readonly Instruction[] = []) {
  const [before, rent] = [1_000n, 2_000_000n];
  const sol = gains.filter(([, asset]) => asset === NATIVE_SOL);
  const tokens = gains.filter(([, asset]) => asset !== NATIVE_SOL);
  const lamports = new Map(sol.map(([wallet, , gained]) => [wallet, { before: rent, after: rent + gained }]));
  const tokenAccounts = new Map(
    tokens.map(([owner, mint, gained]): [string, TouchedTokenAccount] => [
      newAddress(),
      { mint, decimals: 6, ownerBefore: owner, ownerAfter: owner, before, after: before + gained },
    ]),
  );
  return landedAs(decoded, { instructions, lamports, tokenAccounts });
}

const termsOf = (scheme: string, asset: string): Terms => ({
  ...{ scheme, network: 'solana-devnet', asset, amount: 100n, payTo: SELLER, maxTimeoutSeconds: 60 },
});
const bookedAs = (scheme: string, asset: string) => ({ id: ID, payer: PAYER, slot: 9, terms: termsOf(scheme, asset) });
const pays = (amount: bigint) => `the transaction pays ${amount} of 100 atomic units`;

describe('a booked payment by its terms alone', () => {
  test.each<[string, string, string, Gains, string | undefined]>([
    [
      'SOL to the seller',
      'exact',
      NATIVE_SOL,
      [
        [SELLER, NATIVE_SOL, 100n],
        [PAYER, NATIVE_SOL, -100n],
      ],
      undefined,
    ],
    [
      'a lamport less',
      'exact',
      NATIVE_SOL,
      [
        [SELLER, NATIVE_SOL, 99n],
        [PAYER, NATIVE_SOL, -99n],
      ],
      pays(99n),
    ],
    [
      'a token to the seller',
      'exact',
      MINT,
      [
        [SELLER, MINT, 100n],
        [PAYER, MINT, -100n],
      ],
      undefined,
    ],
    [
      'a unit less',
      'exact',
      MINT,
      [
        [SELLER, MINT, 99n],
        [PAYER, MINT, -99n],
      ],
      pays(99n),
    ],
    [
      'a unit more',
      'exact',
      MINT,
      [
        [SELLER, MINT, 101n],
        [PAYER, MINT, -101n],
      ],
      pays(101n),
    ],
    [
      'to a stranger',
      'exact',
      MINT,
      [
        [STRANGER, MINT, 100n],
        [PAYER, MINT, -100n],
      ],
      pays(0n),
    ],
    [
      'another token',
      'exact',
      MINT,
      [
        [SELLER, OTHER_MINT, 100n],
        [PAYER, OTHER_MINT, -100n],
      ],
      pays(0n),
    ],
    ['nothing', 'exact', MINT, [], pays(0n)],
    [
      'to two',
      'transfer',
      MINT,
      [
        [SELLER, MINT, 60n],
        [STRANGER, MINT, 40n],
        [PAYER, MINT, -100n],
      ],
      undefined,
    ],
    [
      'to two, a unit less',
      'transfer',
      MINT,
      [
        [SELLER, MINT, 59n],
        [STRANGER, MINT, 40n],
        [PAYER, MINT, -99n],
      ],
      pays(99n),
    ],
    [
      'nothing of it to the seller',
      'transfer',
      MINT,
      [
        [STRANGER, MINT, 100n],
        [PAYER, MINT, -100n],
      ],
      `the transaction pays nothing to ${SELLER}`,
    ],
    [
      'by somebody else',
      'exact',
      MINT,
      [
        [SELLER, MINT, 100n],
        [STRANGER, MINT, -100n],
      ],
      `booked as paid by ${PAYER}, who has paid nothing`,
    ],
  ])('counts what its recipients hold more: %s', (_, scheme, asset, gains, fault) => {
    expect(bookedAmountFault(landedWith(gains), bookedAs(scheme, asset), undefined)).toBe(fault);
  });

  test('was paid by who has signed for the money, be it another’s', () => {
    const data = Buffer.alloc(10, 12);
    data.writeBigUInt64LE(100n, 1);
    const transfer = { program: PROGRAMS.token, accounts: [newAddress(), MINT, newAddress(), PAYER], data };
    const gains = [
      [SELLER, MINT, 100n],
      [STRANGER, MINT, -100n],
    ] as const;
    expect(bookedAmountFault(landedWith(gains, [transfer]), bookedAs('exact', MINT), undefined)).toBeUndefined();
  });

  test('is none when the transaction is another one, or landed elsewhere, whatever that pays', () => {
    const landed = landedWith([
      [SELLER, MINT, 100n],
      [PAYER, MINT, -100n],
    ]);
    const booked = bookedAs('exact', MINT);
    expect(bookedAmountFault(landed, { ...booked, id: `${ID}0` }, undefined)).toBe(ANOTHER);
    expect(bookedAmountFault(landed, { ...booked, slot: 8 }, undefined)).toBe(
      'booked in slot 8, and it landed in slot 9',
    );
  });
});

describe('a payment request that is known', () => {
  const arrived = (after: bigint) => landedAs(decoded, { lamports: new Map([[REQUEST.payTo, { before: 0n, after }]]) });
  const terms = { ...termsOf('transfer', NATIVE_SOL), amount: REQUEST.amount, payTo: REQUEST.payTo };
  const booked = { id: ID, payer: REQUESTED, terms };

  test('decides alone whether it was paid', () => {
    expect(bookedAmountFault(arrived(REQUEST.amount), booked, REQUEST)).toBeUndefined();
    expect(bookedAmountFault(arrived(REQUEST.amount - 1n), booked, REQUEST)).toBe(
      'the transaction does not pay its request: invalid_transfer_not_received',
    );
    expect(bookedAmountFault(arrived(REQUEST.amount), { ...booked, id: 'other' }, REQUEST)).toBe(ANOTHER);
    expect(paysTerms(arrived(REQUEST.amount), booked, REQUEST)).toBe(true);
    expect(paysTerms(arrived(REQUEST.amount - 1n), booked, REQUEST)).toBe(false);
  });

  test.each([
    [{ amount: 1n }, 'booked with 1 atomic units'],
    [{ asset: MINT }, `booked in ${MINT}`],
    [{ payTo: SELLER }, `booked to ${SELLER}`],
  ])('and the payment is booked with what it asked for: not %j', (change, fault) => {
    const other = { ...booked, terms: { ...terms, ...change } };
    expect(bookedAmountFault(arrived(REQUEST.amount), other, REQUEST)).toContain(fault);
  });
});
