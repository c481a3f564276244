import { creditText } from '../../../../src/middleware/terms/credit-costs.js';
import { SANDBOX_TOKENS } from '../../../../src/protocol/networks/tokens.js';

const [usdc] = SANDBOX_TOKENS;

test.each([
  [0n, '0 USDC'],
  [1n, '0.000001 USDC'],
  [9_996_000n, '9.996 USDC'],
  [2n ** 63n - 1n, '9223372036854.775807 USDC'],
])('%s units of credit are an amount and a symbol: %s', (amount, text) => {
  expect(creditText(amount, usdc?.mint ?? '', SANDBOX_TOKENS)).toBe(text);
});

test('credit in a token without a symbol here is atomic units and the mint', () => {
  expect(creditText(999_600n, usdc?.mint ?? '', [])).toBe(`999600 ${usdc?.mint}`);
});
