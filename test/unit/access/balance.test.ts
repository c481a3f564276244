import fc from 'fast-check';
import { readMinimum, wireNumber } from '../../../src/access/balance.js';
import { formatAmount, parseDecimal } from '../../../src/protocol/money/money.js';

describe('a minimum', () => {
  test.each([
    [100, '100', 0],
    ['100.00', '100', 2],
    [0.5, '0.5', 1],
    ['0.1', '0.1', 1],
    [1e-7, '0.0000001', 7],
    [0, '0', 0],
    ['18446744073709551615', '18446744073709551615', 0],
  ])('%p is read as %s', (input, text, places) => {
    expect(readMinimum(input)).toEqual({ ok: true, value: { text, places } });
  });

  test.each([
    -1,
    '-0.5',
    '',
    ' 1',
    '1,5',
    '0x10',
    '1e3',
    'NaN',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e30,
    `0.${'0'.repeat(18)}1`,
  ])('%p is refused', (input) => {
    expect(readMinimum(input).ok).toBe(false);
  });

  test('is what was written, exactly', () => {
    const anAmount = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(anAmount, fc.integer({ min: 0, max: 18 }), (amount, decimals) => {
        const minimum = readMinimum(formatAmount(amount, decimals));
        expect(minimum.ok && parseDecimal(minimum.value.text, decimals)).toEqual({ ok: true, value: amount });
      }),
    );
  });
});

test.each([
  [1_500_000n, 6, 1.5],
  [1n, 9, 1e-9],
  [2n ** 53n, 0, 2 ** 53],
  [2n ** 64n - 1n, 0, 2 ** 64],
])('%s units with %s decimals are %s on the wire', (amount, decimals, number) => {
  expect(wireNumber(amount, decimals)).toBe(number);
});
