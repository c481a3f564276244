import fc from 'fast-check';
import { headerWithNonce, newNonce } from '../../../../src/protocol/codecs/nonce-header.js';
import { anyText } from '../../../helpers/any-text.js';
import { header } from '../samples.js';

/** Stands for a nonce in what {@link around} makes. */
const PLACE = Symbol('nonce');

/** Any JSON, with any number of places in it, at any depth. */
const { around } = fc.letrec<{ around: unknown }>((tie) => ({
  around: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(PLACE),
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie('around'), { maxLength: 4 }),
    fc.dictionary(anyText({ maxLength: 20 }), tie('around'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

function filled(value: unknown, nonce: string): unknown {
  if (value === PLACE) return nonce;
  if (Array.isArray(value)) return value.map((it) => filled(it, nonce));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, filled(it, nonce)]));
}

function decoded(text: string): object {
  return JSON.parse(Buffer.from(text, 'base64').toString());
}

describe('a nonce', () => {
  test('is 24 characters of URL-safe base64, and another one each time', () => {
    const nonces = Array.from({ length: 2_000 }, newNonce);
    for (const nonce of nonces) expect(nonce).toMatch(/^[\w-]{24}$/);
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  test('shares no part with those that are made before and after it', () => {
    const thirds = Array.from({ length: 600 }, newNonce).flatMap((nonce) => nonce.match(/.{8}/g) ?? []);
    expect([thirds.length, new Set(thirds).size]).toEqual([1_800, 1_800]);
  });
});

describe('a header with a nonce', () => {
  test('is the base64 of what was written, each place of the nonce ending in it, whatever is around', () => {
    fc.assert(
      fc.property(fc.array(around, { maxLength: 4 }), (value) => {
        const write = headerWithNonce((nonce) => ({ value: filled(value, nonce) }));
        for (const nonce of [newNonce(), newNonce()]) {
          const text = write(nonce);
          const said = decoded(text);
          const bare = JSON.stringify(said).replaceAll(new RegExp(`"n{0,2}${nonce}"`, 'g'), `"${nonce}"`);
          expect(bare).toBe(JSON.stringify({ value: filled(value, nonce) }));
          expect(text).toBe(header(said));
        }
      }),
      { numRuns: 300 },
    );
  });

  test.each([0, 1, 2, 3, 4, 5])('may have the nonce after any number of bytes: %d more', (length) => {
    const write = headerWithNonce((nonce) => ({ before: 'x'.repeat(length), nonce, after: 'y'.repeat(length) }));
    const nonce = newNonce();
    expect(decoded(write(nonce))).toEqual({
      before: 'x'.repeat(length),
      nonce: expect.stringMatching(new RegExp(`^n{0,2}${nonce}$`)),
      after: 'y'.repeat(length),
    });
    expect(write(nonce)).toBe(header(decoded(write(nonce))));
  });

  test('is the same for the same nonce, and another one for another', () => {
    const write = headerWithNonce((nonce) => ({ nonce }));
    const [one, other] = [newNonce(), newNonce()];
    expect(write(one)).toBe(write(one));
    expect(write(one)).not.toBe(write(other));
  });

  test('is written once, however many nonces it is made for', () => {
    let written = 0;
    const write = headerWithNonce((nonce) => {
      written += 1;
      return { nonce };
    });
    for (let times = 0; times < 3; times += 1) write(newNonce());
    expect(written).toBe(1);
  });
});
