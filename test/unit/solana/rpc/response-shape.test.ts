import { isRecord } from '../../../../src/lib/parsed.js';
import { count, listOf, record, text } from '../../../../src/solana/rpc/response-shape.js';
import { ResponseShapeError } from '../../../../src/solana/rpc/response-shape-error.js';

const OBJECTS = [{}, { a: 1 }];
const TEXTS = ['', 'a', '7'];
const COUNTS = [0, 1, Number.MAX_SAFE_INTEGER];
const OTHERS = [undefined, null, true, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, [], [1]];

const READERS = [
  ['record', record, OBJECTS, 'fee is not an object'],
  ['text', text, TEXTS, 'fee is not a text'],
  ['count', count, COUNTS, 'fee is not a whole number'],
] as const;

test.each(READERS)('%s answers what has its shape as it is', (_name, read, good) => {
  expect(good.map((value) => read(value, 'fee'))).toEqual(good);
});

test.each(READERS)('%s refuses everything else, and names the field', (_name, read, good, message) => {
  const bad = [...OBJECTS, ...TEXTS, ...COUNTS, ...OTHERS].filter((value) => !good.some((it) => it === value));
  for (const value of bad) {
    expect(() => read(value, 'fee')).toThrow(new ResponseShapeError(message));
  }
});

test('an object is none when it is null or a list', () => {
  expect([...OBJECTS, ...TEXTS, ...OTHERS].filter(isRecord)).toEqual(OBJECTS);
});

test('a list is read entry by entry, holes too', () => {
  const read = (entry: unknown, name: string) => [entry, name];
  expect(listOf([1, 'a', null], 'fees', read)).toEqual([
    [1, 'fees'],
    ['a', 'fees'],
    [null, 'fees'],
  ]);
  expect(listOf([], 'fees', read)).toEqual([]);
  expect(() => listOf(new Array(1), 'fees', text)).toThrow(new ResponseShapeError('fees is not a text'));
});

test('a list that is left out has no entries', () => {
  expect([listOf(undefined, 'fees', text), listOf(null, 'fees', text)]).toEqual([[], []]);
});

test.each([[{}], ['fees'], [7], [{ length: 1, 0: 'a' }]])('%j is no list', (value) => {
  expect(() => listOf(value, 'fees', text)).toThrow(new ResponseShapeError('fees is not a list'));
});

test('the error has a name of its own', () => {
  expect(new ResponseShapeError('fee is not a text').name).toBe('AnswerShapeError');
});
