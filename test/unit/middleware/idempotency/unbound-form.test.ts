import fc from 'fast-check';
import { boundaryOf, unboundForm } from '../../../../src/middleware/idempotency/unbound-form.js';
import { timesLonger } from '../../../helpers/times-longer.js';

const MIB = 1024 * 1024;

const written = (boundary: string, parts: readonly string[], end = '--\r\n'): Buffer =>
  Buffer.from(`${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}${end}`);
/** All that is hashed of a form; undefined where it counts as it is. */
const textOf = (body: Uint8Array, boundary: string, isWhole = true): string | undefined => {
  const form = unboundForm(body, boundary, isWhole);
  return form && JSON.stringify([form.lengths, Buffer.from(form.content).toString('latin1')]);
};

/** The parts of a form as a parser reads them that takes every `CRLF--boundary` for a delimiter, whatever comes behind it. */
const parsed = (body: Buffer, boundary: string): string =>
  JSON.stringify(`\r\n${body.toString('latin1')}`.split(`\r\n--${boundary}`));

describe('the boundary of a form', () => {
  test.each([
    ['multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk', '----WebKitFormBoundary7MA4YWxk'],
    ['multipart/form-data; boundary="a b\'(c)+_,-./:=?d"', "a b'(c)+_,-./:=?d"],
    ['Multipart/Form-Data;BOUNDARY=x', 'x'],
    ['multipart/form-data; boundary=x; charset=UTF-8', 'x'],
    ['multipart/form-data; charset="utf-8"; boundary=x', 'x'],
  ])('is read: %s', (type, boundary) => {
    expect(boundaryOf(type)).toBe(boundary);
  });

  test.each([
    undefined,
    'multipart/form-data',
    'multipart/mixed; boundary=x',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="x',
    'multipart/form-data; boundary=x; boundary=y',
    'multipart/form-data; boundary=x; boundary*=y',
    'multipart/form-data; boundary=x, multipart/form-data; boundary=y',
    'multipart/form-data; boundary=x{}',
    'multipart/form-data; boundary="x "',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
  ])('is none where readers could differ about it: %s', (type) => {
    expect(boundaryOf(type)).toBeUndefined();
  });
});

describe('a form without its boundary', () => {
  const piece = fc.constantFrom('\r\n', '--', '-', 'aX', 'bY', 'a', 'X', '\r\n--aX', '\r\n--bY--', '\n--aX', '\r', 'ü');
  const text = fc.array(piece, { maxLength: 6 }).map((it) => it.join(''));
  const parts = fc.array(text, { maxLength: 4 });
  const boundary = fc.constantFrom('aX', 'bY', 'a', 'X', '-aX', 'aX--', '--', 'aa');

  test('is the same under every boundary that is nowhere in its parts', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 5 }), fc.constantFrom('--\r\n', '--'), (all, end) => {
        const [one, other] = ['----one-7f3a', '------------another-91bc'];
        const first = textOf(written(one, all, end), one);
        expect(first).toBeDefined();
        expect(textOf(written(other, all, end), other)).toBe(first);
      }),
    );
  });

  test('is another for every form that a parser reads otherwise, whatever its parts hold', () => {
    const form = fc.tuple(boundary, parts, fc.constantFrom('--\r\n', '--', '\r\n', '')).map(([name, all, end]) => ({
      name,
      body: written(name, all, end),
    }));
    fc.assert(
      fc.property(form, form, (one, other) => {
        const [first, second] = [textOf(one.body, one.name), textOf(other.body, other.name)];
        if (first === undefined || first !== second) return;
        expect(parsed(other.body, other.name)).toBe(parsed(one.body, one.name));
      }),
      { numRuns: 5_000 },
    );
  });

  test.each([
    ['a part that holds the boundary', written('aX', ['1\r\n\r\n..aX..'])],
    ['a part that holds a delimiter which goes on', written('aX', ['1\r\n\r\nb\r\n--aXY'])],
    ['a delimiter behind a bare line feed', Buffer.from('--aX\r\nb\n--aX--\r\n')],
    ['room behind a delimiter', Buffer.from('--aX \r\nb\r\n--aX--\r\n')],
    ['something before it', Buffer.from('hello\r\n--aX\r\nb\r\n--aX--\r\n')],
    ['something behind it', written('aX', ['b'], '--\r\nmore')],
    ['no end', written('aX', ['b'], '\r\nc')],
    ['no delimiter at all', Buffer.from('hello')],
    [
      'more parts than forms have',
      written(
        'aX',
        Array.from({ length: 20_000 }, () => 'b'),
      ),
    ],
  ])('is none with %s: then it counts as it is', (_what, body) => {
    expect(textOf(body, 'aX')).toBeUndefined();
  });

  test('is not known by where its parts end, but by each part', () => {
    const texts = [['ab', 'c'], ['a', 'bc'], ['abc'], ['ab', 'c', ''], ['c', 'ab']].map((all) =>
      textOf(written('-q7', all), '-q7'),
    );
    expect(new Set(texts).size).toBe(5);
  });
});

describe('the beginning of a form', () => {
  const cut = (name: string, parts: readonly string[]) => written(name, parts).subarray(0, MIB);

  test('is the same wherever a boundary is cut off, be it longer or shorter', () => {
    const long = 'y'.repeat(2 * MIB);
    const first = textOf(cut('one', ['x', long]), 'one', false);
    expect(first).toBeDefined();
    expect(textOf(cut('another-one', ['x', long]), 'another-one', false)).toBe(first);
    expect(textOf(cut('another-one', ['y', long]), 'another-one', false)).not.toBe(first);
    for (let over = 0; over < 12; over += 1) {
      const end = 'y'.repeat(MIB - over - 9);
      const [one, other] = [
        textOf(cut('one', [end, long]), 'one', false),
        textOf(cut('two', [end, long]), 'two', false),
      ];
      expect(one).toBeDefined();
      expect(other).toBe(one);
    }
  });
});

test.each([
  ['of a boundary that nearly stands everywhere', `b${'a'.repeat(69)}`, 'a'],
  ['of another such', `${'a'.repeat(69)}b`, 'a'],
  ['of a third', `${'a'.repeat(35)}b${'a'.repeat(34)}`, 'a'],
  ['of delimiters alone', 'x', '--x\r\n'],
])('a form of 16 times as many bytes %s takes no more than 16 times as long, give or take', (_what, boundary, part) => {
  const read = (length: number) => {
    const body = Buffer.from(`--${boundary}\r\n${part.repeat(length / part.length)}\r\n--${boundary}--`);
    return () => unboundForm(body, boundary, true);
  };
  const [long, short] = [read(MIB), read(MIB / 16)];
  long();
  // Were it the square, it would be 256 times as long.
  expect(timesLonger(long, short, (times) => times < 80)).toBeLessThan(80);
});
