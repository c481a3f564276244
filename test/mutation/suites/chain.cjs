require('../suite.cjs').declareTests(['unit/solana', 'chain/delivery.test.ts', 'chain/holdings.test.ts']);
