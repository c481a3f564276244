import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import {
  hashSecret,
  isPublicKey,
  isSecret,
  newPublicKey,
  newSecret,
  sameHash,
} from '../../../../src/identity/service-keys/service-key.js';

const modes = fc.constantFrom('live' as const, 'test' as const);
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The value of base62 digits. */
function valueFrom(digits: string): number {
  return [...digits].reduce((sum, digit) => sum * 62 + BASE62.indexOf(digit), 0);
}

test('a public key is its prefix, its mode, and 22 base62 characters', () => {
  fc.assert(
    fc.property(modes, (mode) => {
      const key = newPublicKey(mode, randomBytes);
      expect(key).toMatch(new RegExp(`^toll_pk_${mode}_[0-9A-Za-z]{22}$`));
      expect([isPublicKey(key), isSecret(key)]).toEqual([true, false]);
    }),
  );
});

test('a secret ends in the CRC32 of what is before it, base62', () => {
  fc.assert(
    fc.property(modes, (mode) => {
      const secret = newSecret(mode, randomBytes);
      expect(secret).toMatch(new RegExp(`^toll_sk_${mode}_[0-9A-Za-z]{49}$`));
      expect(valueFrom(secret.slice(-6))).toBe(crc32(secret.slice(0, -6)));
      expect([isSecret(secret), isPublicKey(secret)]).toEqual([true, false]);
    }),
  );
});

test('a secret in which any one character is another is found out by its check sum', () => {
  const secret = newSecret('live', randomBytes);
  const place = fc.integer({ min: 'toll_sk_live_'.length, max: secret.length - 1 });
  fc.assert(
    fc.property(place, fc.constantFrom(...BASE62), (at, character) => {
      fc.pre(secret[at] !== character);
      expect(isSecret(secret.slice(0, at) + character + secret.slice(at + 1))).toBe(false);
    }),
  );
});

test.each([
  '',
  'toll_sk_live_',
  ' ',
  'toll_pk_live_x',
  `toll_pk_prod_${'a'.repeat(22)}`,
  `toll_pk_live_${'a'.repeat(22)}\n`,
])('%j is neither key nor secret', (text) => {
  expect([isPublicKey(text), isSecret(text)]).toEqual([false, false]);
});

test('no text at all makes the reading throw', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect([isPublicKey(text), isSecret(text)]).toEqual([false, false]);
    }),
  );
});

test('every character is as likely as the others', () => {
  const counts = new Map<string, number>();
  for (let n = 0; n < 2_000; n += 1) {
    for (const it of newPublicKey('live', randomBytes).slice(-22)) counts.set(it, (counts.get(it) ?? 0) + 1);
  }
  const expected = (2_000 * 22) / 62;
  expect(counts.size).toBe(62);
  // Of a fair draw 710 ± 26; with bytes taken modulo 62 the first eight would come at 859.
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(135);
});

test('what is kept of a secret is its SHA-256, and hashes are compared whole', () => {
  const secret = newSecret('test', randomBytes);
  expect(hashSecret(secret)).toBe(createHash('sha256').update(secret).digest('base64url'));
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      expect(sameHash(hashSecret(one), hashSecret(other))).toBe(one === other);
    }),
  );
  expect(sameHash(hashSecret(''), '')).toBe(false);
});
