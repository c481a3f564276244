import { labelOf, labelsOf } from '../../../src/gateway/token-label.js';
import { KNOWN_TOKENS, SOL_MINT } from '../../../src/protocol/networks/tokens.js';
import { NATIVE_SOL } from '../../../src/solana/transaction/programs.js';

const [USDC] = KNOWN_TOKENS['solana-devnet'];
const twin = { ...USDC!, mint: 'another mint', decimals: 9 };
const native = { symbol: 'SOL', mint: NATIVE_SOL, decimals: 9, program: NATIVE_SOL };

test('a symbol belongs to the first known token that has it', () => {
  const known = [USDC!, twin];
  expect(labelOf(USDC!, known)).toEqual({ symbol: 'USDC', decimals: 6 });
  expect(labelOf(twin, known)).toEqual({ symbol: 'USDC (another mint)', decimals: 9 });
  expect(labelOf(twin, [twin])).toEqual({ symbol: 'USDC', decimals: 9 });
  expect(labelOf(twin, [])).toEqual({ symbol: 'USDC', decimals: 9 });
});

test('SOL is SOL, wrapped or not', () => {
  expect(labelOf(native, KNOWN_TOKENS.solana)).toEqual({ symbol: 'SOL', decimals: 9 });
});

test('in one answer no two moneys have the same symbol', async () => {
  const labels = await labelsOf([NATIVE_SOL, SOL_MINT, 'one', 'two', 'one'], async (mint) => ({
    symbol: mint.length > 3 ? 'SOL' : 'USDC',
    decimals: 6,
  }));
  expect([...labels].map(([mint, { symbol }]) => [mint, symbol])).toEqual([
    [NATIVE_SOL, 'SOL'],
    [SOL_MINT, 'SOL'],
    ['one', 'USDC'],
    ['two', 'USDC (two)'],
  ]);
});
