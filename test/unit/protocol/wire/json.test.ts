import fc from 'fast-check';
import { MAX_HEADER_BYTES, MAX_JSON_DEPTH, MAX_JSON_VALUES } from '../../../../src/protocol/limits.js';
import { decodeBase64, jsonFault, readHeader, writeHeader } from '../../../../src/protocol/wire/json.js';
import { anyText } from '../../../helpers/any-text.js';
import { anyJson, header } from '../samples.js';

const NAME = 'PAYMENT-SIGNATURE';

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

describe('readHeader', () => {
  test('reads any JSON that was written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), anyJson), (value) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'));
        expect(readHeader(NAME, writeHeader(value))).toEqual({ ok: true, value: JSON.parse(JSON.stringify(value)) });
      }),
    );
  });

  test('never throws, and names the header in every fault', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), anyText().map(header)), (text) => {
        const result = readHeader(NAME, text);
        if (!result.ok) expect(result.detail).toMatch(/^PAYMENT-SIGNATURE/);
      }),
    );
  });

  test('reads a header of exactly 16 KiB, and refuses one of a byte more before decoding it', () => {
    const filler = (MAX_HEADER_BYTES * 3) / 4 - 2;
    const longest = Buffer.from(JSON.stringify('x'.repeat(filler))).toString('base64');
    expect(longest).toHaveLength(MAX_HEADER_BYTES);
    expect(readHeader(NAME, longest)).toEqual({ ok: true, value: 'x'.repeat(filler) });
    expect(readHeader(NAME, '!'.repeat(MAX_HEADER_BYTES + 1))).toEqual({
      ok: false,
      detail: 'PAYMENT-SIGNATURE is longer than 16384 bytes',
    });
  });

  test.each([
    ['nothing', '', /not base64: it is empty/],
    ['plain JSON', '{"x402Version":2}', /not base64: /],
    ['the URL-safe alphabet', 'eyJhIjoiPz8_In0-', /URL-safe alphabet/],
    ['no padding', header({ a: 1 }).replace(/=+$/, ''), /padding missing/],
    ['white space', `${header({ a: 12 })}\n`, /not base64/],
    ['bits after the end', 'eyJhIjoxfR==', /not base64/],
    ['two headers joined', `${header({ a: 12 })}, ${header({ a: 12 })}`, /not base64/],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('base64'), /the text is not UTF-8/],
    ['a byte order mark', Buffer.from('\ufeff{}').toString('base64'), /the text is not JSON/],
    ['text that is not JSON', Buffer.from('{a:1}').toString('base64'), /the text is not JSON/],
    [
      'a __proto__ key',
      Buffer.from('{"a":[{"__proto__":{"admin":true}}]}').toString('base64'),
      /a key named __proto__/,
    ],
    ['JSON that is too deep', header(nested(MAX_JSON_DEPTH + 1)), /nested deeper than 64 levels/],
    ['5,000 brackets', Buffer.from(`${'['.repeat(5000)}${']'.repeat(5000)}`).toString('base64'), /nested deeper/],
  ])('refuses %s', (_, text, message) => {
    expect(readHeader(NAME, text)).toEqual({ ok: false, detail: expect.stringMatching(message) });
  });

  test('a JSON that is as deep as allowed is read', () => {
    expect(readHeader(NAME, header(nested(MAX_JSON_DEPTH))).ok).toBe(true);
  });
});

describe('jsonFault', () => {
  test('too many values are refused, however flat', () => {
    expect(jsonFault(new Array(MAX_JSON_VALUES).fill(0))).toMatch(/more than 20000 values/);
    expect(jsonFault(new Array(MAX_JSON_VALUES - 1).fill(0))).toBeUndefined();
  });

  test('an object that holds itself ends', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect(jsonFault(loop)).toMatch(/nested deeper/);
  });
});

describe('decodeBase64', () => {
  test('has one spelling for every byte string', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(decodeBase64(text)).toEqual({ ok: true, value: bytes });
      }),
    );
  });

  test.each([
    ['', 'it is empty'],
    ['-_-_', 'it uses the URL-safe alphabet; the standard one has + and /'],
    ['AAA', 'its length is not a multiple of four; is the padding missing?'],
    ['AAA!', 'it holds characters or bits that base64 does not have'],
    ['AAB=', 'it holds characters or bits that base64 does not have'],
  ])('says of %j what is wrong', (text, detail) => {
    expect(decodeBase64(text)).toEqual({ ok: false, detail });
  });

  test('what it reads is what would be written', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9+/=_-]{1,12}$/), (text) => {
        const bytes = decodeBase64(text);
        if (bytes.ok) expect(Buffer.from(bytes.value).toString('base64')).toBe(text);
      }),
    );
  });
});
