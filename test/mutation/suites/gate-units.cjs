const LONGEST_TEST_MS = 5_000;

require('../suite.cjs').declareTests(
  ['unit/middleware/payment', 'unit/middleware/response', 'unit/middleware/idempotency'],
  LONGEST_TEST_MS,
);
