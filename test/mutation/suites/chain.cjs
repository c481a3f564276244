require('../suite.cjs').declareTests([
  'unit/solana',
  'chain/delivery.test.ts',
  'chain/holdings.test.ts',
  'http/rpc-calls.test.ts',
  'faults/websocket.test.ts',
]);
