require('../suite.cjs').declareTests([
  'http/recovery.test.ts',
  'http/native-once.test.ts',
  'chain/payouts.test.ts',
  'http/native-solana-pay.test.ts',
  'http/health.test.ts',
  'http/unknown-outcome.test.ts',
]);
