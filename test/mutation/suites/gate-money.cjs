process.env.EXPRESSES = 'one';
const LONGEST_TEST_MS = 20_000;

require('../suite.cjs').declareTests(
  [
    'http/payment/prepared.test.ts',
    'http/payment/rpc-calls.test.ts',
    'http/gate/any-of-payments.test.ts',
    'http/passes/credit-after.test.ts',
    'http/passes/handler-first.test.ts',
    'http/passes/pass-credit.test.ts',
    'http/abuse/gateway-hang-ups.test.ts',
    'http/payment/frozen-instance.test.ts',
    'http/wallet/holder-prices.test.ts',
    'http/gateway/unlucky-calls.test.ts',
    'http/gateway/books-follow-money.test.ts',
    'http/passes/compensation-kills.test.ts',
  ],
  LONGEST_TEST_MS,
);
