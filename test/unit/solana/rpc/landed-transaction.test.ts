import { AddressLookupTableAccount, Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { readHistory, readLandedTransaction } from '../../../../src/solana/rpc/landed-transaction.js';
import { ResponseShapeError } from '../../../../src/solana/rpc/response-shape-error.js';
import { decodeTransaction } from '../../../../src/solana/transaction/transaction.js';
import { buildDraft } from '../../../helpers/transactions/draft.js';
import { instruction, memo } from '../../../helpers/transactions/raw-instructions.js';

const payer = Keypair.generate();
const PAYER = payer.publicKey.toBase58();
const fresh = () => Keypair.generate().publicKey.toBase58();
const [PROGRAM, WRITTEN, READ, BLOCKHASH, MINT, TABLE] = Array.from({ length: 6 }, fresh) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const DRAFT = { version: 0, feePayer: PAYER, blockhash: BLOCKHASH, signers: [payer] } as const;

/** Two instructions, of which the first names an account for writing and one for reading. */
const INSTRUCTIONS = [
  instruction(PROGRAM, [{ address: WRITTEN, written: true }, READ], [1, 2]),
  instruction(PROGRAM, [READ], []),
];
const BYTES = buildDraft({ ...DRAFT, instructions: INSTRUCTIONS });

/** Accounts of the transaction in its order: payer, written, program, read. */
const ACCOUNTS = decodedAccounts(BYTES);
const at = (address: string): number => ACCOUNTS.indexOf(address);

function decodedAccounts(bytes: Uint8Array): readonly string[] {
  const result = decodeTransaction(bytes);
  if (!result.ok) throw new Error(result.detail);
  return result.transaction.accounts;
}

const TOKENS = { accountIndex: at(WRITTEN), mint: MINT, owner: PAYER, uiTokenAmount: { decimals: 6, amount: '25' } };

const META = {
  err: null,
  fee: 5_000,
  computeUnitsConsumed: 450,
  preBalances: ACCOUNTS.map((_, index) => 10_000 * index),
  postBalances: ACCOUNTS.map((_, index) => 20_000 * index),
};
const ANSWER = { slot: 7, blockTime: 1_700_000_000, transaction: [base64(BYTES), 'base64'], meta: META };

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function withMeta(change: object): unknown {
  return { ...ANSWER, meta: { ...META, ...change } };
}

const READ_INSTRUCTIONS = [
  { program: PROGRAM, accounts: [WRITTEN, READ], data: Buffer.of(1, 2) },
  { program: PROGRAM, accounts: [READ], data: Buffer.of() },
];

test('a transaction is read whole', () => {
  const decoded = decodeTransaction(BYTES);
  expect(readLandedTransaction(ANSWER)).toEqual({
    slot: 7,
    blockTime: 1_700_000_000_000,
    messageHash: decoded.ok && decoded.transaction.messageHash,
    requiredSignatures: 1,
    blockhash: BLOCKHASH,
    err: null,
    feeLamports: 5_000n,
    computeUnits: 450,
    accounts: ACCOUNTS,
    instructions: READ_INSTRUCTIONS,
    signedInstructions: READ_INSTRUCTIONS,
    lamports: new Map(
      ACCOUNTS.map((it, index) => [it, { before: BigInt(10_000 * index), after: BigInt(20_000 * index) }]),
    ),
    tokenAccounts: new Map(),
  });
});

test('there may be none', () => {
  expect(readLandedTransaction(null)).toBeNull();
});

test('what old nodes leave out is unknown or none', () => {
  const { blockTime: _time, meta: _meta, ...rest } = ANSWER;
  const { err: _err, computeUnitsConsumed: _units, ...meta } = META;
  const missing = { blockTime: undefined, err: null, computeUnits: 0, instructions: READ_INSTRUCTIONS };
  expect(readLandedTransaction({ ...rest, meta })).toMatchObject(missing);
  const nulls = { innerInstructions: null, preTokenBalances: null, postTokenBalances: null, loadedAddresses: null };
  const answer = { ...rest, blockTime: null, meta: { ...meta, ...nulls, err: null, computeUnitsConsumed: null } };
  expect(readLandedTransaction(answer)).toMatchObject({ ...missing, tokenAccounts: new Map(), accounts: ACCOUNTS });
});

test('why it failed is passed on', () => {
  const err = { InstructionError: [0, { Custom: 1 }] };
  expect(readLandedTransaction(withMeta({ err }))?.err).toEqual(err);
});

test('accounts of lookup tables follow the others, those written to first', () => {
  const state = { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 };
  const addresses = [WRITTEN, READ].map((it) => new PublicKey(it));
  const table = new AddressLookupTableAccount({ key: new PublicKey(TABLE), state: { ...state, addresses } });
  const bytes = buildDraft({ ...DRAFT, instructions: INSTRUCTIONS, lookupTables: [table] });
  const loadedAddresses = { writable: [WRITTEN], readonly: [READ] };
  const answer = { ...(withMeta({ loadedAddresses }) as object), transaction: [base64(bytes), 'base64'] };

  expect(decodedAccounts(bytes)).toEqual([PAYER, PROGRAM]);
  const landed = readLandedTransaction(answer);
  expect(landed?.accounts).toEqual([PAYER, PROGRAM, WRITTEN, READ]);
  expect(landed?.instructions).toEqual(READ_INSTRUCTIONS);
});

test('inner instructions follow the one that made them', () => {
  const made = [
    { programIdIndex: at(READ), accounts: [at(PAYER), at(PROGRAM)], data: bs58.encode([9, 8]) },
    { programIdIndex: 255, accounts: [255], data: '0' },
  ];
  const innerInstructions = [{ index: 0, instructions: made }];
  const landed = readLandedTransaction(withMeta({ innerInstructions }));
  expect(landed?.signedInstructions).toEqual(READ_INSTRUCTIONS);
  expect(landed?.instructions).toEqual([
    READ_INSTRUCTIONS[0],
    { program: READ, accounts: [PAYER, PROGRAM], data: Uint8Array.of(9, 8) },
    { program: '', accounts: [''], data: new Uint8Array() },
    READ_INSTRUCTIONS[1],
  ]);
});

test('amounts of lamports that are not known exactly are left out', () => {
  const preBalances = [2 ** 53, 1, 2 ** 53 - 1, 0];
  const postBalances = [1, 2 ** 53, 5, 6];
  expect(readLandedTransaction(withMeta({ preBalances, postBalances }))?.lamports).toEqual(
    new Map([
      [ACCOUNTS[2], { before: 2n ** 53n - 1n, after: 5n }],
      [ACCOUNTS[3], { before: 0n, after: 6n }],
    ]),
  );
});

test('lamports of which nothing is told are unknown', () => {
  const lamports = readLandedTransaction(withMeta({ preBalances: [1, 2], postBalances: [3] }))?.lamports;
  expect(lamports).toEqual(new Map([[PAYER, { before: 1n, after: 3n }]]));
});

const account = { mint: MINT, ownerBefore: PAYER, ownerAfter: PAYER, decimals: 6, before: 25n, after: 25n };
const opened = { ownerBefore: undefined, before: 0n };
const OTHER = { ...TOKENS, mint: READ, owner: READ, uiTokenAmount: { decimals: 2, amount: '4' } };

test.each([
  ['created', { postTokenBalances: [TOKENS] }, { ...account, ...opened }],
  ['closed', { preTokenBalances: [TOKENS] }, { ...account, ownerAfter: undefined, after: 0n }],
  [
    'that was there and stays',
    {
      preTokenBalances: [TOKENS],
      postTokenBalances: [{ ...TOKENS, uiTokenAmount: { decimals: 6, amount: '18446744073709551615' } }],
    },
    { ...account, after: 2n ** 64n - 1n },
  ],
  [
    'that changes hands',
    { preTokenBalances: [TOKENS], postTokenBalances: [{ ...TOKENS, owner: READ }] },
    { ...account, ownerAfter: READ },
  ],
  [
    'that becomes one of another mint',
    { preTokenBalances: [TOKENS], postTokenBalances: [OTHER] },
    {
      ...{ mint: READ, decimals: 2, ownerAfter: READ, after: 4n },
      ...opened,
      formerly: { mint: MINT, owner: PAYER, decimals: 6, amount: 25n },
    },
  ],
  [
    'whose owner is not told',
    { postTokenBalances: [{ ...TOKENS, owner: undefined }] },
    { ...account, ...opened, ownerAfter: undefined },
  ],
  [
    'whose owner is told as null',
    { preTokenBalances: [{ ...TOKENS, owner: null }], postTokenBalances: [TOKENS] },
    { ...account, ownerBefore: undefined },
  ],
])('a token account %s', (_what, change, expected) => {
  expect(readLandedTransaction(withMeta(change))?.tokenAccounts).toEqual(new Map([[WRITTEN, expected]]));
});

const inner = (change: object) => ({ innerInstructions: [{ index: 0, instructions: [], ...change }] });
const compiled = (change: object) =>
  inner({ instructions: [{ programIdIndex: 0, accounts: [], data: '', ...change }] });
const tokens = (change: object) => ({ preTokenBalances: [{ ...TOKENS, ...change }] });
const amount = (text: unknown) => tokens({ uiTokenAmount: { decimals: 6, amount: text } });

test.each([
  [undefined, 'transaction is not an object'],
  [[ANSWER], 'transaction is not an object'],
  [{ ...ANSWER, meta: null }, 'meta is not an object'],
  [{ ...ANSWER, transaction: base64(BYTES) }, 'transaction is not base64'],
  [{ ...ANSWER, transaction: [base64(BYTES), 'base58'] }, 'transaction is not base64'],
  [{ ...ANSWER, transaction: { 0: base64(BYTES), 1: 'base64' } }, 'transaction is not base64'],
  [{ ...ANSWER, transaction: [7, 'base64'] }, 'transaction is not a text'],
  [
    { ...ANSWER, transaction: [base64(BYTES.subarray(0, -1)), 'base64'] },
    'transaction: The transaction cannot be decoded: it ends before its lookup tables.',
  ],
  [{ ...ANSWER, slot: -1 }, 'slot is not a whole number'],
  [{ ...ANSWER, blockTime: '7' }, 'blockTime is not a number'],
  [{ ...ANSWER, blockTime: Number.POSITIVE_INFINITY }, 'blockTime is not a number'],
])('a result that is none is refused, with the name of the field [%#]', (result, message) => {
  expect(() => readLandedTransaction(result)).toThrow(new ResponseShapeError(message));
});

test.each<readonly [object, string]>([
  [{ fee: '5000' }, 'fee is not a whole number'],
  [{ computeUnitsConsumed: -1 }, 'computeUnitsConsumed is not a whole number'],
  [{ loadedAddresses: [] }, 'loadedAddresses is not an object'],
  [{ loadedAddresses: { writable: 'all' } }, 'writable is not a list'],
  [{ loadedAddresses: { writable: [7] } }, 'writable is not a text'],
  [{ loadedAddresses: { readonly: 'all' } }, 'readonly is not a list'],
  [{ loadedAddresses: { readonly: [7] } }, 'readonly is not a text'],
  [{ preBalances: null }, 'preBalances is not a list'],
  [{ postBalances: undefined }, 'postBalances is not a list'],
  [{ preBalances: ['1'] }, 'preBalances is not a number'],
  [{ postBalances: [null] }, 'postBalances is not a number'],
  [{ innerInstructions: {} }, 'innerInstructions is not a list'],
  [{ innerInstructions: [7] }, 'innerInstructions is not an object'],
  [inner({ index: 256 }), 'innerInstructions has an index of more than 255'],
  [inner({ instructions: 'none' }), 'innerInstructions is not a list'],
  [compiled({ programIdIndex: 256 }), 'innerInstructions has an index of more than 255'],
  [compiled({ accounts: [0, 256] }), 'innerInstructions has an index of more than 255'],
  [compiled({ accounts: [-1] }), 'innerInstructions is not a whole number'],
  [compiled({ data: [1] }), 'innerInstructions is not a text'],
  [{ preTokenBalances: {} }, 'preTokenBalances is not a list'],
  [{ postTokenBalances: {} }, 'postTokenBalances is not a list'],
  [{ postTokenBalances: [7] }, 'postTokenBalances is not an object'],
  [tokens({ accountIndex: 256 }), 'preTokenBalances has an index of more than 255'],
  [tokens({ mint: 7 }), 'preTokenBalances is not a text'],
  [tokens({ owner: 7 }), 'preTokenBalances is not a text'],
  [tokens({ uiTokenAmount: null }), 'preTokenBalances is not an object'],
  [tokens({ uiTokenAmount: { amount: '7' } }), 'preTokenBalances is not a whole number'],
  [amount(7), 'preTokenBalances is not a text'],
  ...['', '-7', '1.5', '7x', 'x7', '0x7', ' 7', '1'.repeat(21)].map(
    (text) => [amount(text), 'preTokenBalances has an amount that is none'] as const,
  ),
])('what is told beside it is read as strictly [%#]', (change, message) => {
  expect(() => readLandedTransaction(withMeta(change))).toThrow(new ResponseShapeError(message));
});

test('a memo is read with its bytes', () => {
  const bytes = buildDraft({ ...DRAFT, instructions: [memo('order 7')] });
  const answer = { ...ANSWER, transaction: [base64(bytes), 'base64'] };
  expect(readLandedTransaction(answer)?.instructions.map(({ data }) => `${data}`)).toEqual(['order 7']);
});

test('a history is read entry by entry', () => {
  const entries = [
    { signature: 'a', slot: 7, err: null, blockTime: 1_700_000_000, memo: null, confirmationStatus: 'finalized' },
    { signature: 'b', slot: 0, err: { InstructionError: [0, { Custom: 1 }] }, blockTime: null },
    { signature: 'c', slot: 1, err: null },
  ];
  expect(readHistory(entries)).toEqual([
    { signature: 'a', slot: 7, failed: false, blockTime: 1_700_000_000_000, memo: null },
    { signature: 'b', slot: 0, failed: true, blockTime: undefined },
    { signature: 'c', slot: 1, failed: false, blockTime: undefined },
  ]);
  expect(readHistory([])).toEqual([]);
});

test.each([
  [null],
  [{}],
  [[null]],
  [[{ slot: 7, err: null }]],
  [[{ signature: 'a', err: null }]],
  [[{ signature: 'a', slot: 7 }]],
  [[{ signature: 'a', slot: -1, err: null }]],
  [[{ signature: 'a', slot: 1.5, err: null }]],
  [[{ signature: 'a', slot: 7, err: null, blockTime: 'now' }]],
  [[{ signature: 'a', slot: 7, err: null, memo: 7 }]],
])('%j is no history', (result) => {
  expect(() => readHistory(result)).toThrow(new ResponseShapeError('signatures are not a list'));
});

test('of what programs pass each other no more is read than is looked at', () => {
  const short = { programIdIndex: at(PROGRAM), accounts: [at(WRITTEN)], data: bs58.encode(Buffer.alloc(512, 255)) };
  const long = { ...short, data: '2'.repeat(14_000) };
  const innerInstructions = [{ index: 0, instructions: [short, ...Array.from({ length: 62 }, () => long)] }];
  const read = readLandedTransaction(withMeta({ innerInstructions }))?.instructions.slice(1, 64);
  expect(read?.map(({ data }) => data.length)).toEqual([512, ...Array<number>(62).fill(0)]);
});
