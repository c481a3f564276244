import {
  Keypair,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_EPOCH_SCHEDULE_PUBKEY,
  SYSVAR_INSTRUCTIONS_PUBKEY,
  SYSVAR_RECENT_BLOCKHASHES_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SYSVAR_REWARDS_PUBKEY,
  SYSVAR_SLOT_HASHES_PUBKEY,
  SYSVAR_SLOT_HISTORY_PUBKEY,
  SYSVAR_STAKE_HISTORY_PUBKEY,
} from '@solana/web3.js';
import { type PlainInstruction, readInstruction } from '../../../../src/solana/transaction/instructions.js';
import { PROGRAMS } from '../../../../src/solana/transaction/programs.js';

const [A, B, C, D] = [0, 1, 2, 3].map(() => Keypair.generate().publicKey.toBase58()) as [
  string,
  string,
  string,
  string,
];
/** 2⁶³ + 7: a number that no signed reader and no float gets right. */
const AMOUNT = [7, 0, 0, 0, 0, 0, 0, 128];
const AMOUNT_VALUE = 2n ** 63n + 7n;

function read(program: string, accounts: readonly string[], data: readonly number[]): PlainInstruction {
  // As a part of a larger buffer, which is how instructions come.
  const bytes = Uint8Array.of(9, 9, 9, ...data, 9, 9);
  return readInstruction({ program, accounts, data: bytes.subarray(3, 3 + data.length) });
}

const OTHER = { kind: 'other' };

const SYSVARS = [
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_EPOCH_SCHEDULE_PUBKEY,
  SYSVAR_INSTRUCTIONS_PUBKEY,
  SYSVAR_RECENT_BLOCKHASHES_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SYSVAR_REWARDS_PUBKEY,
  SYSVAR_SLOT_HASHES_PUBKEY,
  SYSVAR_SLOT_HISTORY_PUBKEY,
  SYSVAR_STAKE_HISTORY_PUBKEY,
].map((key) => key.toBase58());

type Case = readonly [string, string, readonly string[], readonly number[], object];

const TOKEN_CASES: readonly Case[] = [PROGRAMS.token, PROGRAMS.token2022].flatMap((program): Case[] => {
  const checked = { kind: 'token-transfer', program, source: A, mint: B, destination: C, authority: D, others: [] };
  const plain = { kind: 'unchecked-token-transfer', program, source: A, destination: B, authority: C, others: [] };
  return [
    ['TransferChecked', program, [A, B, C, D], [12, ...AMOUNT, 6], { ...checked, amount: AMOUNT_VALUE }],
    [
      'TransferChecked with signers of a multisig',
      program,
      [A, B, C, D, A],
      [12, ...AMOUNT, 6],
      { ...checked, others: [A] },
    ],
    ['TransferChecked without an authority', program, [A, B, C], [12, ...AMOUNT, 6], OTHER],
    ['TransferChecked without accounts', program, [], [12, ...AMOUNT, 6], OTHER],
    ['TransferChecked, too short', program, [A, B, C, D], [12, ...AMOUNT], OTHER],
    ['TransferChecked, too long', program, [A, B, C, D], [12, ...AMOUNT, 6, 0], OTHER],
    ['Transfer', program, [A, B, C], [3, ...AMOUNT], { ...plain, amount: AMOUNT_VALUE }],
    ['Transfer without an authority', program, [A, B], [3, ...AMOUNT], OTHER],
    ['Transfer, too short', program, [A, B, C], [3, ...AMOUNT.slice(1)], OTHER],
    ['Transfer, too long', program, [A, B, C], [3, ...AMOUNT, 6], OTHER],
    ['ApproveChecked', program, [A, B, C, D], [13, ...AMOUNT, 6], OTHER],
    ['MintToChecked', program, [A, B, C, D], [14, ...AMOUNT, 6], OTHER],
    ['BurnChecked', program, [A, B, C, D], [15, ...AMOUNT, 6], OTHER],
    ['TransferCheckedWithFee', program, [A, B, C, D], [26, 1, ...AMOUNT, 6], OTHER],
    ['CloseAccount', program, [A, B, C], [9], OTHER],
    ['data that was not read', program, [A, B, C, D], [], { kind: 'owner-change', account: A }],
    ['neither data nor accounts', program, [], [], OTHER],
  ];
});

const CASES: readonly Case[] = [
  ...TOKEN_CASES,
  ['SetComputeUnitLimit', PROGRAMS.computeBudget, [], [2, 1, 2, 0, 255], { kind: 'compute-limit', units: 0xff000201 }],
  ['SetComputeUnitLimit, too short', PROGRAMS.computeBudget, [], [2, 1, 2, 0], { kind: 'malformed-compute-limit' }],
  [
    'SetComputeUnitLimit, too long',
    PROGRAMS.computeBudget,
    [],
    [2, 1, 2, 0, 0, 0],
    { kind: 'malformed-compute-limit' },
  ],
  [
    'SetComputeUnitPrice',
    PROGRAMS.computeBudget,
    [],
    [3, ...AMOUNT],
    { kind: 'compute-price', microLamports: AMOUNT_VALUE },
  ],
  ['SetComputeUnitPrice, too short', PROGRAMS.computeBudget, [], [3, 1], { kind: 'malformed-compute-price' }],
  ['SetComputeUnitPrice, too long', PROGRAMS.computeBudget, [], [3, ...AMOUNT, 0], { kind: 'malformed-compute-price' }],
  ['RequestHeapFrame', PROGRAMS.computeBudget, [], [1, 0, 0, 4, 0], OTHER],
  ['SetLoadedAccountsDataSizeLimit', PROGRAMS.computeBudget, [], [4, 0, 0, 4, 0], OTHER],
  ['no data of the compute budget', PROGRAMS.computeBudget, [], [], OTHER],
  ['a memo', PROGRAMS.memo, [A], [104, 105], { kind: 'memo', data: Uint8Array.of(104, 105) }],
  ['an empty memo', PROGRAMS.memo, [], [], { kind: 'memo', data: new Uint8Array() }],
  ...[2, 3, 4, 5, 6, 7, 8, 9, 10].map(
    (first): Case => [`assertion ${first} of Lighthouse`, PROGRAMS.lighthouse, [A, B], [first, 0], { kind: 'guard' }],
  ),
  ['an assertion of Lighthouse without accounts', PROGRAMS.lighthouse, [], [10], { kind: 'guard' }],
  ...[11, 12, 13, 14, 15, 16, 17].map(
    (first): Case => [`assertion ${first} of Lighthouse`, PROGRAMS.lighthouse, [A], [first, 0], OTHER],
  ),
  ...SYSVARS.flatMap((sysvar): Case[] => [
    [`an assertion on ${sysvar}`, PROGRAMS.lighthouse, [sysvar], [2, 0], OTHER],
    [`an assertion on an account and ${sysvar}`, PROGRAMS.lighthouse, [A, sysvar], [10, 0], OTHER],
  ]),
  ['a write of Lighthouse', PROGRAMS.lighthouse, [A], [0, 0], OTHER],
  ['a close of Lighthouse', PROGRAMS.lighthouse, [A], [1, 0], OTHER],
  ['more than Lighthouse knows', PROGRAMS.lighthouse, [A], [18, 0], OTHER],
  ['no data of Lighthouse', PROGRAMS.lighthouse, [A], [], OTHER],
  [
    'a transfer of SOL',
    PROGRAMS.system,
    [A, B],
    [2, 0, 0, 0, ...AMOUNT],
    { kind: 'sol-transfer', source: A, destination: B, lamports: AMOUNT_VALUE, others: [] },
  ],
  ['a transfer of SOL without a recipient', PROGRAMS.system, [A], [2, 0, 0, 0, ...AMOUNT], OTHER],
  ['a transfer of SOL without accounts', PROGRAMS.system, [], [2, 0, 0, 0, ...AMOUNT], OTHER],
  ['a transfer of SOL, too short', PROGRAMS.system, [A, B], [2, 0, 0, 0, 1], OTHER],
  ['a transfer of SOL, too long', PROGRAMS.system, [A, B], [2, 0, 0, 0, ...AMOUNT, 0], OTHER],
  ['a transfer of SOL with a seed', PROGRAMS.system, [A, B, C], [11, 0, 0, 0, ...AMOUNT], OTHER],
  ['an assignment', PROGRAMS.system, [A], [1, 0, 0, 0, ...AMOUNT], OTHER],
  ['a variant in its higher bytes', PROGRAMS.system, [A, B], [2, 1, 0, 0, ...AMOUNT], OTHER],
  ['less than a variant', PROGRAMS.system, [A, B], [2, 0, 0], OTHER],
  ['AdvanceNonceAccount', PROGRAMS.system, [A, B, C], [4, 0, 0, 0], { kind: 'nonce-advance' }],
  ['AdvanceNonceAccount with more', PROGRAMS.system, [A, B, C], [4, 0, 0, 0, 1], { kind: 'nonce-advance' }],
  ...[[], [0], [1]].map(
    (data): Case => [
      `the creation of a token account: ${data.join() || 'no data'}`,
      PROGRAMS.associatedToken,
      [A, B, C, D],
      data,
      { kind: 'create-token-account', funder: A, account: B, owner: C, mint: D },
    ],
  ),
  ['the recovery of a nested token account', PROGRAMS.associatedToken, [A, B, C, D], [2], OTHER],
  ['a creation with more data', PROGRAMS.associatedToken, [A, B, C, D], [1, 0], OTHER],
  ['a creation without a mint', PROGRAMS.associatedToken, [A, B, C], [1], OTHER],
  ['a creation without accounts', PROGRAMS.associatedToken, [], [], OTHER],
  ['another program', A, [A, B, C, D], [12, ...AMOUNT, 6], OTHER],
];

test.each(CASES)('%s', (_name, program, accounts, data, expected) => {
  expect(read(program, accounts, data)).toMatchObject(expected);
});
