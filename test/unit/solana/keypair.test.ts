import { inspect } from 'node:util';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { TollhouseError } from '../../../src/errors/errors.js';
import { createSplitWallet } from '../../../src/solana/building/payout-transaction.js';
import { createFeePayer } from '../../../src/solana/fee-payer.js';
import { readKeypair } from '../../../src/solana/keypair.js';

const wallet = Keypair.generate();
const { secretKey } = wallet;
const text = bs58.encode(secretKey);
const json = JSON.stringify([...secretKey]);

test.each([
  ['a web3.js Keypair', wallet],
  ['its 64 bytes', secretKey],
  ['base58', text],
  ['base58 with white space around it', ` ${text}\n`],
  ['the JSON of a key file', json],
  ['the JSON of a key file over several lines', `${JSON.stringify([...secretKey], null, 2)}\n`],
])('a key pair is read from %s', (_name, input) => {
  expect(readKeypair(input, 'here').publicKey).toEqual(Uint8Array.from(wallet.publicKey.toBytes()));
});

/** A key whose bytes are also the lowest and the highest that there are. */
const edged = Keypair.fromSeed(Uint8Array.from({ length: 32 }, (_, index) => (index % 2) * 255));

test('the JSON of a key file may hold any byte', () => {
  const read = readKeypair(JSON.stringify([...edged.secretKey]), 'here');
  expect(read.publicKey).toEqual(Uint8Array.from(edged.publicKey.toBytes()));
});

test.each([
  ['256 more', (byte: number) => byte + 256],
  ['256 less', (byte: number) => byte - 256],
  ['a fraction more', (byte: number) => byte + 0.5],
  ['a text', (byte: number) => `${byte}`],
  ['a list', (byte: number) => [byte]],
])('the JSON of a key file with a number that only comes to the byte is refused: %s', (_how, change) => {
  for (const at of [0, 1, 63]) {
    const bent = [...edged.secretKey].map((byte, index) => (index === at ? change(byte) : byte));
    expect(Uint8Array.from(bent as number[])).toEqual(Uint8Array.from(edged.secretKey));
    expect(() => readKeypair(JSON.stringify(bent), 'here')).toThrow(/^here: option "keypair" must be/);
  }
});

test('bytes that were given stay as they are, and what was made of a text is wiped', () => {
  const given = Uint8Array.from(secretKey);
  readKeypair(given, 'here');
  readKeypair({ secretKey: given }, 'here');
  expect(given).toEqual(Uint8Array.from(secretKey));

  const decode = jest.spyOn(bs58, 'decodeUnsafe');
  const read = readKeypair(text, 'here');
  const [made] = decode.mock.results.map(({ value }) => value as Uint8Array);
  decode.mockRestore();
  expect(Uint8Array.from(made!)).toEqual(new Uint8Array(64));
  expect(read.publicKey).toEqual(Uint8Array.from(wallet.publicKey.toBytes()));
});

test('the message says which option it is, what it may be, or what is wrong with it', () => {
  const messageOf = (input: Uint8Array) => errorOf(() => readKeypair(input, 'payTo', 'wallet'));
  expect(messageOf(secretKey.subarray(1))).toMatchObject({
    message:
      'payTo: option "wallet" must be a web3.js Keypair, its 64 secret bytes, the base58 text of them, or the JSON array of a Solana key file',
    context: { param: 'wallet' },
  });
  expect(messageOf(otherHalf)).toMatchObject({
    message: 'payTo: option "wallet": the public half does not belong to the secret half',
    context: { param: 'wallet' },
  });
});

test.each([
  ['the list', [...secretKey]],
  ['one of them, as a list of keys has it', 7],
])('the numbers of a key file without its text are told what to pass: %s', (_what, input) => {
  const { message } = errorOf(() => readKeypair(input as never, 'here'));
  expect(message).toBe(
    'here: option "keypair" is a list of numbers: pass Uint8Array.from(list), or the text of the key file as it is',
  );
});

test('keys are shown by their address', () => {
  const address = wallet.publicKey.toBase58();
  expect(inspect(createFeePayer(wallet, 'here'))).toBe(`FeePayer(${address})`);
  expect(inspect(createSplitWallet(wallet, 'here', 'splitKeypair'))).toBe(`SplitWallet(${address})`);
});

const otherHalf = Uint8Array.from([...secretKey.subarray(0, 32), ...Keypair.generate().publicKey.toBytes()]);

const WRONG: readonly [string, never][] = (
  [
    ['bytes too short', secretKey.subarray(0, 63)],
    ['the seed alone', secretKey.subarray(0, 32)],
    ['bytes too long', Uint8Array.from([...secretKey, 0])],
    ['halves of different keys', otherHalf],
    ['halves of different keys in base58', bs58.encode(otherHalf)],
    ['base58 with a stray character', `${text}0`],
    ['base58 cut off', text.slice(0, -3)],
    ['base58 twice', text + text],
    ['the key in hexadecimal', Buffer.from(secretKey).toString('hex')],
    ['the key in base64', Buffer.from(secretKey).toString('base64')],
    ['JSON cut off', json.slice(0, -1)],
    ['JSON of numbers that are no bytes', JSON.stringify([...secretKey.subarray(1), 256])],
    ['JSON of an object', JSON.stringify({ secretKey: [...secretKey] })],
    ['JSON of nested lists', JSON.stringify([[...secretKey]])],
    ['an object without a secret', { publicKey: wallet.publicKey }],
    ['an object with a secret in text', { secretKey: text }],
    ['an empty text', ''],
    ['a plain list', [...secretKey]],
    ['a number', 7],
    ['nothing', null],
    ['undefined', undefined],
  ] as readonly [string, unknown][]
).map(([name, input]) => [name, input as never]);

/** Everything of the secret that may not be seen: every stretch of eight bytes or characters, in every usual spelling. */
function stretchesOf(...spellings: string[]): string[] {
  return spellings.flatMap((it) => Array.from({ length: it.length - 7 }, (_, at) => it.slice(at, at + 8)));
}

const SECRET = stretchesOf(
  text,
  Buffer.from(secretKey.subarray(0, 32)).toString('hex'),
  Buffer.from(secretKey.subarray(0, 30)).toString('base64'),
  [...secretKey.subarray(0, 32)].join(','),
  [...secretKey.subarray(0, 32)].join(', '),
);

function errorOf(call: () => unknown): TollhouseError {
  try {
    call();
  } catch (error) {
    if (error instanceof TollhouseError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function shownAnyhow(value: object): string {
  return [String(value), JSON.stringify(value), inspect(value, { depth: 10, showHidden: true })].join('\n');
}

describe.each([
  ['readKeypair', readKeypair],
  ['createFeePayer', createFeePayer],
])('%s', (_name, read) => {
  test.each(WRONG)('refuses %s by name and shows nothing of it', (_what, input) => {
    const error = errorOf(() => read(input, 'here'));
    expect(error).toMatchObject({ code: 'bad_option', context: { param: 'keypair' } });
    expect(error.message).toMatch(/^here: option "keypair"/);
    const shown = shownAnyhow(error) + error.stack;
    expect(SECRET.filter((stretch) => shown.includes(stretch))).toEqual([]);
  });

  test('what is made of a key does not show its secret', () => {
    const shown = shownAnyhow(read(wallet, 'here'));
    expect(SECRET.filter((stretch) => shown.includes(stretch))).toEqual([]);
  });
});

test('the stretches that are looked for are those of the secret', () => {
  expect(SECRET.filter((stretch) => shownAnyhow([text, json]).includes(stretch)).length).toBeGreaterThan(100);
});
