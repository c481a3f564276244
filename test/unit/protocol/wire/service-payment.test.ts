import bs58 from 'bs58';
import fc from 'fast-check';
import { readServicePayment } from '../../../../src/protocol/wire/service-payment.js';

const signature = fc.uint8Array({ minLength: 64, maxLength: 64 });
const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64');

test('the 64 bytes of a signature and its base58 text are one payment', () => {
  fc.assert(
    fc.property(signature, (bytes) => {
      const text = bs58.encode(bytes);
      const fromBytes = readServicePayment(base64(bytes));
      expect(fromBytes).toEqual({ ok: true, value: text });
      expect(readServicePayment(base64(text))).toEqual(fromBytes);
    }),
  );
});

test.each([
  ['nothing', ''],
  ['no base64', '%%%'],
  ['base64 without its padding', base64(new Uint8Array(64)).replaceAll('=', '')],
  ['63 bytes', base64(new Uint8Array(63))],
  ['65 bytes', base64(new Uint8Array(65))],
  ['base58 of 63 bytes', base64(bs58.encode(new Uint8Array(63).fill(7)))],
  ['the signature as it is, without base64', bs58.encode(new Uint8Array(64).fill(9))],
  ['far too much', base64('1'.repeat(10_000))],
])('%s is refused with a sentence that names the header', (_what, header) => {
  const reading = readServicePayment(header);
  expect(reading).toMatchObject({ ok: false, detail: expect.stringContaining('X-Service-Payment') });
});

test.each([
  [200, 'must be base64 of the 64 bytes of a transaction signature, or of its base58 text; it holds 150 bytes'],
  [204, 'is longer than 200 characters'],
])('of %i characters that hold no signature it is said what would', (length, detail) => {
  const header = base64(new Uint8Array((length / 4) * 3));
  expect(header).toHaveLength(length);
  expect(readServicePayment(header)).toEqual({ ok: false, detail: `X-Service-Payment ${detail}` });
});

test('whatever comes, it is read or refused', () => {
  fc.assert(fc.property(fc.string(), (header) => typeof readServicePayment(header).ok === 'boolean'));
});
