require('../suite.cjs').declareTests([
  'http/gateway/gateway-proofs.test.ts',
  'cli/db-reconcile.test.ts',
  'http/payment/recovery.test.ts',
  'chain/payouts.test.ts',
  'http/requests/native-solana-pay.test.ts',
  'http/requests/native-once.test.ts',
]);
