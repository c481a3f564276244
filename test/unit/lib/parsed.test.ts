import fc from 'fast-check';
import { firstFault, shown } from '../../../src/lib/parsed.js';

test.each<[unknown, string]>([
  ['pay', '"pay"'],
  ['two\nlines and a "quote"', '"two\\nlines and a \\"quote\\""'],
  ['x'.repeat(60), `"${'x'.repeat(60)}"`],
  ['x'.repeat(61), `"${'x'.repeat(60)}…"`],
  [5, '5'],
  [-0.5, '-0.5'],
  [true, 'true'],
  [null, 'null'],
  [undefined, 'undefined'],
  [12n, '12'],
  [10n ** 60n, `1${'0'.repeat(59)}`],
  [[1, 2], 'an array'],
  [{ toString: () => 'mine' }, 'a value of type object'],
  [Object.create(null), 'a value of type object'],
  [() => 'mine', 'a value of type function'],
  [Symbol('mine'), 'a value of type symbol'],
])('%p is shown as %s', (value, text) => {
  expect(shown(value)).toBe(text);
});

test('whatever it is, it is shown on one short line', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.anything({ withBigInt: true, withNullPrototype: true }), fc.string({ maxLength: 99 })),
      (value) => {
        expect(shown(value)).toMatch(/^.{1,400}$/u);
      },
    ),
  );
});

test.each([
  [[], 'it has another shape'],
  [[{ path: [], message: 'Required' }], 'Required'],
  [[{ path: ['accepted', 'amount'], message: 'Required' }], 'accepted.amount: Required'],
  [[{ path: ['accepts', 0], message: 'Required' }], 'accepts.0: Required'],
  [[{ path: [Symbol('a')], message: 'Required' }], 'Symbol(a): Required'],
  [
    [
      { path: ['a'], message: 'Required' },
      { path: ['b'], message: 'Wrong' },
    ],
    'a: Required',
  ],
])('of the faults %j the first is told, with the path to it', (issues, text) => {
  expect(firstFault(issues)).toBe(text);
});
