require('../suite.cjs').declareTests([
  'unit/solana',
  'chain/holdings.test.ts',
  'http/rpc-calls.test.ts',
  'chain/delivery.test.ts',
  'faults/websocket.test.ts',
]);
