import { allowanceFor, isAllowance } from '../../../../src/facilitator/payments/allowance.js';

const DAY_MS = 86_400_000;
const PLACE = { wallet: 'alice', site: 'https://shop.example', scope: 'GET /report' };
const AT = 20_000 * DAY_MS;
const had = (now: number, more: Partial<typeof PLACE> = {}, uses = 5n) =>
  allowanceFor({ ...PLACE, ...more }, { uses, perMs: DAY_MS }, now);

test('an allowance is one for a wallet and a place in a period, whenever it is asked for, and ends with that', () => {
  const [first, last, next] = [had(AT), had(AT + DAY_MS - 1), had(AT + DAY_MS)];
  expect([first.paymentId === last.paymentId, first.paymentId === next.paymentId]).toEqual([true, false]);
  expect([first.lastsMs, last.lastsMs, next.lastsMs]).toEqual([DAY_MS, 1, DAY_MS]);
  expect([first.bought, first.left, isAllowance(first.paymentId), isAllowance('a payment')]).toEqual([
    5n,
    5n,
    true,
    false,
  ]);
});

test.each([{ wallet: 'bob' }, { site: 'https://other.example' }, { scope: 'group api' }])(
  'an allowance of another place or wallet is another one: %p',
  (more) => expect(had(AT, more).paymentId).not.toBe(had(AT).paymentId),
);

test('an allowance that has grown is the one of the period all the same', () => {
  expect(had(AT, {}, 9n).paymentId).toBe(had(AT).paymentId);
});
