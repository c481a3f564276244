import { fundsAfter, spendingOf } from '../../../../src/facilitator/sponsorship/spending.js';
import { NATIVE_SOL } from '../../../../src/solana/transaction/programs.js';
import { newPayment, newRequest, paying } from '../../../helpers/fixtures/payment-service-fixture.js';

test('a payment takes its amount from the token account of its payer', () => {
  const { decoded } = newPayment();
  const spending = spendingOf(decoded);
  expect(spending).toEqual([{ account: expect.any(String), kind: 'token', most: 10_000n, least: 10_000n }]);
  expect(decoded.accounts).toContain(spending[0]?.account);
  expect(spendingOf(decoded)).toBe(spending);
});

test('several transfers of SOL are one spending of their wallet', () => {
  const request = newRequest(0);
  const [leg] = request.legs;
  const two = {
    ...request,
    legs: [
      { ...leg!, amount: 600n },
      { ...newRequest(0).legs[0]!, amount: 400n },
    ],
  };
  expect(two.token.mint).toBe(NATIVE_SOL);
  const { decoded, payer } = paying(two);
  expect(spendingOf(decoded)).toEqual([{ account: payer, kind: 'sol', most: 1_000n, least: 1_000n }]);
});

test('what is left is read from what a simulation shows, and what it does not show is missing', () => {
  const sol = { account: 'wallet', kind: 'sol', most: 1n, least: 1n } as const;
  const token = { account: 'tokens', kind: 'token', most: 1n, least: 1n } as const;
  const wallet = { lamports: 7n, owner: NATIVE_SOL, data: new Uint8Array() };
  expect(fundsAfter([sol, token], { accounts: [wallet, wallet] }).left).toEqual(new Map([['wallet', 7n]]));
  expect(fundsAfter([token, sol], { accounts: [null, null] }).left).toEqual(new Map());
  expect(fundsAfter([token, sol], {}).left).toEqual(new Map());
});
