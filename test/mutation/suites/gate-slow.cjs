process.env.EXPRESSES = 'one';
const LONGEST_TEST_MS = 20_000;

require('../suite.cjs').declareTests(
  [
    'unit/middleware/gate',
    'http/networks/gate.test.ts',
    'http/gateway/rotation.test.ts',
    'http/gate/paywall.test.ts',
    'http/gate/gate-figures.test.ts',
    'http/payment/fee-limit.test.ts',
    'http/gate/cloud-functions.test.ts',
    'http/gate/prices.test.ts',
    'http/passes/pass-offers.test.ts',
    'http/payment/payment-failed.test.ts',
    'http/payment/restart-in-memory.test.ts',
    'http/abuse/who-comes-again.test.ts',
    'http/payment/unknown-outcome.test.ts',
    'http/passes/compensation.test.ts',
    'http/gate/any-of.test.ts',
    'http/gate/parsed-bodies.test.ts',
    'http/gate/cross-origin.test.ts',
    'http/payment/outage.test.ts',
    'http/payment/failed-settle.test.ts',
    'http/passes/pass-failures.test.ts',
    'http/passes/pass-stream.test.ts',
    'http/passes/used-payment.test.ts',
  ],
  LONGEST_TEST_MS,
);
