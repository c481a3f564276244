import bs58 from 'bs58';
import fc from 'fast-check';
import { addressBytes, addressOf, isAddress, isSignature, signatureText } from '../../../src/protocol/address.js';
import { PAYER, SIGNATURE } from './samples.js';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

test('an address is the base58 of its 32 bytes, there and back, as often as it is asked for', () => {
  fc.assert(
    fc.property(bytes(32), (key) => {
      const text = bs58.encode(key);
      for (let time = 0; time < 2; time += 1) {
        expect(addressOf(key)).toBe(text);
        expect(isAddress(text)).toBe(true);
        expect(addressBytes(text)).toEqual(key);
      }
    }),
  );
});

test('a key that is a part of a larger buffer is read by itself', () => {
  const buffer = Uint8Array.from({ length: 96 }, (_, index) => index);
  expect(addressOf(buffer.subarray(32, 64))).toBe(bs58.encode(buffer.slice(32, 64)));
});

test('base58 of any other number of bytes is no address, and none other than 64 make a signature', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (some) => {
      const text = bs58.encode(some);
      expect(isAddress(text)).toBe(some.length === 32);
      expect(isSignature(text)).toBe(some.length === 64);
    }),
    { numRuns: 500 },
  );
});

test.each([31, 33])('%i bytes are no address, though their text can be as long as that of one', (length) => {
  const text = bs58.encode(new Uint8Array(length).fill(200, 16));
  expect(text.length).toBeGreaterThanOrEqual(32);
  expect(text.length).toBeLessThanOrEqual(44);
  expect(isAddress(text)).toBe(false);
  expect(() => addressBytes(text)).toThrow(new TypeError(`"${text}" is not a Solana address`));
});

test.each([63, 65])('%i bytes are no signature, though their text can be as long as that of one', (length) => {
  const text = bs58.encode(new Uint8Array(length).fill(200, 32));
  expect(text.length).toBeGreaterThanOrEqual(64);
  expect(text.length).toBeLessThanOrEqual(88);
  expect(isSignature(text)).toBe(false);
});

test.each(['', 'USDC', ` ${PAYER}`, `${PAYER}\n`, PAYER.replace('7', '0'), '1'.repeat(31), '1'.repeat(33)])(
  '%j is no address',
  (text) => {
    expect(isAddress(text)).toBe(false);
    expect(() => addressBytes(text)).toThrow(new TypeError(`"${text}" is not a Solana address`));
  },
);

test('an error shows no more than the beginning of what is no address', () => {
  expect(() => addressBytes('x'.repeat(1_000))).toThrow(new TypeError(`"${'x'.repeat(64)}" is not a Solana address`));
});

test('the text of a signature is the base58 of its 64 bytes', () => {
  expect(SIGNATURE).toBe(bs58.encode(new Uint8Array(64).fill(7)));
  fc.assert(fc.property(bytes(64), (signature) => isSignature(signatureText(signature))));
});
