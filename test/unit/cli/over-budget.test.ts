import { readBudget } from '../../../src/cli/budget/budget.js';
import { overBudget } from '../../../src/cli/budget/over-budget.js';

const NOW = Date.UTC(2026, 0, 31, 12, 30);
const USDC = { asset: 'the mint', decimals: 6, symbol: 'USDC' };

/** Spends of a dollar each, at their times. */
const spent = (...times: readonly string[]) =>
  times.map((at) => ({
    ...{ at: Date.parse(`2026-01-${at}:00Z`), payer: 'a', network: 'solana-devnet', asset: USDC.asset },
    amount: 1_000_000n,
  })) as Parameters<typeof overBudget>[2];

function over(text: string, window: string | undefined, times: readonly string[], dollars = 1n) {
  const budget = readBudget(text, window);
  if (budget === undefined) throw new Error('no budget');
  return overBudget(budget, { paidIn: USDC, amount: dollars * 1_000_000n }, spent(...times), NOW);
}

describe('a budget', () => {
  test.each([
    ['2 USDC/hour', undefined, ['31T12:01', '31T11:59']],
    ['2 USDC/day', undefined, ['31T00:00', '30T23:59']],
    ['$2/month', undefined, ['01T00:00']],
    ['2', '24h', ['31T12:00', '30T12:30']],
    ['2 USDC', '30m', ['31T12:01', '31T12:00']],
    ['2', 'total', []],
  ])('of %s (%s) has room for a dollar beside what was spent in it', (text, window, times) => {
    expect(over(text, window, times)).toBeUndefined();
  });

  test.each([
    ['2 USDC/hour', undefined, ['31T12:01', '31T12:02'], '0 USDC', 'there is enough again at 2026-01-31T13:00:00.000Z'],
    ['2.5 USDC/day', undefined, ['31T00:00', '31T01:00'], '0.5 USDC', 'again at 2026-02-01T00:00:00.000Z'],
    ['1 USDC/month', undefined, ['01T00:00'], '0 USDC', 'again at 2026-02-01T00:00:00.000Z'],
    ['2', '24h', ['31T11:00', '30T12:31'], '0 USDC', 'again at 2026-01-31T12:31:00.000Z'],
    ['2 USDC/total', undefined, ['01T00:00', '02T00:00'], '0 USDC', 'which does not begin anew'],
  ])('of %s (%s) says what is left and when it renews', (text, window, times, left, renews) => {
    expect(over(text, window, times)).toContain(`the price is 1 USDC, and ${left} is left of the budget of`);
    expect(over(text, window, times)).toContain(renews);
  });

  test('waits until as much of it is free as a payment costs', () => {
    expect(over('2', '24h', ['31T11:00', '30T12:31'], 2n)).toContain('again at 2026-02-01T11:00:00.000Z');
    expect(over('2', '24h', [], 3n)).toBe('the price is 3 USDC, more than the whole budget of 2 USDC/24h');
  });

  test('that was lowered since has nothing left, and no less', () => {
    expect(over('1 USDC/day', undefined, ['31T00:00', '31T00:01', '31T00:02'])).toContain('and 0 USDC is left');
  });

  test.each([
    [undefined, '24h', 'give both'],
    ['1', undefined, 'must be an amount in a time such as "1 USDC/day"'],
    ['1 USDC/day', '24h', 'must be an amount in a time'],
    ['1 USDC/year', undefined, '"year" is no time'],
    ['1', '32d', '"32d" is no time'],
    ['1', 'soon', '"soon" is no time'],
    ['much/day', undefined, '--budget must be an amount and a token'],
  ])('is not read of %s and %s', (text, window, told) => {
    expect(() => readBudget(text, window)).toThrow(told);
  });
});
