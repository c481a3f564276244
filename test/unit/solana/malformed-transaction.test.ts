import { Keypair } from '@solana/web3.js';
import { ByteReader } from '../../../src/solana/transaction/byte-reader.js';
import { decodeTransaction } from '../../../src/solana/transaction/transaction.js';

/** A message in its parts: one signer, an account, a program, and an instruction of it. */
interface Parts {
  readonly signatures?: number;
  readonly required?: number;
  readonly readonlySigned?: number;
  readonly readonlyUnsigned?: number;
  readonly accounts?: readonly Uint8Array[];
  readonly program?: number;
  readonly named?: readonly number[];
  /** Lookup tables, each 32 + 2 bytes long. */
  readonly tables?: number;
}

const KEYS = Array.from({ length: 3 }, () => Keypair.generate().publicKey.toBytes());
const VERSION_0 = 0x80;

function build(parts: Parts = {}): Uint8Array {
  const { signatures = 1, required = 1, readonlySigned = 0, readonlyUnsigned = 1, accounts = KEYS } = parts;
  const { program = 2, named = [0, 1], tables } = parts;
  return Buffer.concat([
    Uint8Array.of(signatures),
    Buffer.alloc(64 * signatures),
    Uint8Array.of(...(tables === undefined ? [] : [VERSION_0]), required, readonlySigned, readonlyUnsigned),
    Uint8Array.of(accounts.length),
    ...accounts,
    Buffer.alloc(32, 5),
    Uint8Array.of(1, program, named.length, ...named, 2, 8, 8),
    ...(tables === undefined ? [] : [Uint8Array.of(tables), Buffer.alloc(tables * 34)]),
  ]);
}

function detailOf(bytes: Uint8Array): string {
  const result = decodeTransaction(bytes);
  return result.ok ? 'decoded' : result.detail;
}

const [first, second] = KEYS as [Uint8Array, Uint8Array, Uint8Array];

test.each<[Parts, string]>([
  [{}, 'decoded'],
  [{ tables: 0 }, 'decoded'],
  [{ tables: 2 }, 'decoded'],
  [{ readonlyUnsigned: 2 }, 'decoded'],
  [{ signatures: 2, required: 2, readonlySigned: 1 }, 'decoded'],
  [{ signatures: 0, required: 0 }, 'it requires no signature'],
  [{ required: 0 }, 'it requires no signature'],
  [{ signatures: 2 }, 'it has 2 signature slots and requires 1'],
  [{ required: 2 }, 'it has 1 signature slots and requires 2'],
  [{ readonlySigned: 1 }, 'its fee payer is not writable'],
  [{ readonlySigned: 2 }, 'its fee payer is not writable'],
  [{ readonlyUnsigned: 3 }, 'its header counts more accounts than it names'],
  [{ accounts: [first, second, first] }, 'it names an account twice'],
  [{ program: 0 }, 'an instruction names no program of it'],
  [{ program: 3 }, 'an instruction names no program of it'],
  [{ program: 3, tables: 1 }, 'an instruction names no program of it'],
  [{ named: [0, 3] }, 'an instruction names an account that it does not have'],
  [{ named: [3], tables: 0 }, 'an instruction names an account that it does not have'],
  [{ named: [3], tables: 1 }, 'decoded'],
])('%j: %s', (parts, fault) => {
  expect(detailOf(build(parts))).toBe(fault === 'decoded' ? fault : `The transaction cannot be decoded: ${fault}.`);
});

/** Where the parts of a message with a lookup table begin, and what it says of one that ends there. */
const ENDS: readonly (readonly [number, string])[] = [
  [0, 'it ends before its signatures'],
  [1, 'it ends inside its signatures'],
  [65, 'it ends before its message'],
  [66, 'it ends before its header'],
  [67, 'it ends before its header'],
  [68, 'it ends before its header'],
  [69, 'it ends before its accounts'],
  [70, 'it ends inside its accounts'],
  [165, 'it ends inside its accounts'],
  [166, 'it ends inside its blockhash'],
  [198, 'it ends before its instructions'],
  [199, 'it ends before its instructions'],
  [200, 'it ends before its instruction accounts'],
  [201, 'it ends inside its instruction accounts'],
  [203, 'it ends before its instruction data'],
  [204, 'it ends inside its instruction data'],
  [206, 'it ends before its lookup tables'],
  [207, 'it ends inside its lookup tables'],
  [239, 'it ends before its lookup tables'],
  [240, 'it ends before its lookup tables'],
];

test.each(ENDS)('cut off after %i bytes: %s', (length, fault) => {
  expect(detailOf(build({ tables: 1 }).subarray(0, length))).toBe(`The transaction cannot be decoded: ${fault}.`);
});

test.each([
  ['written', [3, 7, 7, 7, 0], 4],
  ['read', [0, 3, 7, 7, 7], 5],
])('cut off inside the accounts that are %s of a lookup table', (_how, indexes, length) => {
  const bytes = Buffer.concat([build({ tables: 1 }).subarray(0, 239), Uint8Array.from(indexes)]);
  expect(detailOf(bytes)).toBe('decoded');
  const cut = bytes.subarray(0, 239 + length - 1);
  expect(detailOf(cut)).toBe('The transaction cannot be decoded: it ends inside its lookup tables.');
});

test('128 signatures are a number of signatures, and not a version', () => {
  const bytes = Buffer.concat([Uint8Array.of(0x80, 0x01), Buffer.alloc(1_000)]);
  expect(detailOf(bytes)).toBe('The transaction cannot be decoded: it ends inside its signatures.');
});

test.each([
  ['longer than it must be', [0x81, 0x00]],
  ['longer than it must be, in the third byte', [0x81, 0x80, 0x00]],
  ['more than 65,535', [0x80, 0x80, 0x04]],
  ['without an end', [0x80, 0x80, 0x80]],
])('a length that is %s is malformed', (_how, length) => {
  const bytes = Buffer.concat([build().subarray(0, 65 + 3), Uint8Array.from(length)]);
  expect(detailOf(bytes)).toBe('The transaction cannot be decoded: the length of its accounts is malformed.');
});

test('the largest length is read', () => {
  const bytes = Buffer.concat([build().subarray(0, 65 + 3), Uint8Array.of(0xff, 0xff, 0x03)]);
  expect(detailOf(bytes)).toBe('The transaction cannot be decoded: it ends inside its accounts.');
});

test('more bytes than a packet holds are not looked at', () => {
  const bytes = Buffer.alloc(1_233);
  expect(detailOf(bytes)).toBe('The transaction cannot be decoded: it has 1233 bytes, the limit is 1232.');
  expect(detailOf(bytes.subarray(0, 1_232))).not.toContain('the limit');
});

test.each([
  ['before the signatures, as version 1 has it', Uint8Array.of(0x81, 1, 2, 3), 1],
  ['before the signatures, however long it is', Buffer.alloc(5_000, 0x82), 2],
  ['before the message', Buffer.concat([build({ tables: 0 }).subarray(0, 65), Uint8Array.of(0x83, 1, 0, 1)]), 3],
])('another version is named: %s', (_where, bytes, version) => {
  expect(decodeTransaction(bytes)).toMatchObject({
    ok: false,
    reason: 'invalid_exact_svm_payload_transaction_version_unsupported',
    detail: `Transactions with a version ${version} message are not supported yet; sign a legacy or version 0 transaction.`,
  });
});

test('a reader that runs over the end says so by the name of its error', () => {
  expect(() => new ByteReader(new Uint8Array()).byte('header')).toThrow(
    expect.objectContaining({ name: 'ByteReaderError', message: 'it ends before its header' }),
  );
});

test('no bytes at all are refused', () => {
  expect(detailOf(new Uint8Array())).toBe('The transaction cannot be decoded: it ends before its signatures.');
});
