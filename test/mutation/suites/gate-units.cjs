require('../suite.cjs').declareTests([
  'unit/middleware/payment',
  'unit/middleware/response',
  'unit/middleware/idempotency',
]);
