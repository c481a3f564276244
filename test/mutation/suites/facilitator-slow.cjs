require('../suite.cjs').declareTests([
  'http/gateway-proofs.test.ts',
  'cli/db-reconcile.test.ts',
  'http/recovery.test.ts',
  'chain/payouts.test.ts',
  'http/native-solana-pay.test.ts',
  'http/native-once.test.ts',
]);
