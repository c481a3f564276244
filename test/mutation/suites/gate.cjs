process.env.EXPRESSES = 'one';
const LONGEST_TEST_MS = 10_000;

require('../suite.cjs').declareTests(
  [
    'http/gate/unpaid.test.ts',
    'http/payment/refused.test.ts',
    'http/payment/payment-header.test.ts',
    'http/payment/once.test.ts',
    'http/service/idempotency.test.ts',
    'http/service/hooks.test.ts',
    'http/payment/payer-of-landed.test.ts',
    'http/payment/payment-identifier.test.ts',
    'http/payment/one-memory.test.ts',
    'http/gate/price-changed.test.ts',
    'http/gate/wrappers.test.ts',
    'http/payment/held-answer.test.ts',
    'http/payment/handler-failure.test.ts',
    'http/abuse/broken-responses.test.ts',
    'http/payment/settle-before.test.ts',
    'http/payment/failing-stores.test.ts',
    'http/payment/unsendable.test.ts',
  ],
  LONGEST_TEST_MS,
);
