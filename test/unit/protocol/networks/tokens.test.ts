import { DEFAULT_ASSETS } from '@x402/svm';
import { isAddress } from '../../../../src/protocol/address.js';
import { toCaip2 } from '../../../../src/protocol/networks/networks.js';
import { DOLLARS, KNOWN_TOKENS, SANDBOX_TOKENS } from '../../../../src/protocol/networks/tokens.js';
import { NETWORK_IDS, type Token } from '../../../../src/protocol/types.js';

const LISTS: readonly (readonly [string, readonly Token[]])[] = [
  ...Object.entries(KNOWN_TOKENS),
  ['sandbox', SANDBOX_TOKENS],
];

describe('known tokens', () => {
  test.each(NETWORK_IDS)('on %s include every default asset of the official client, and wrapped SOL', (network) => {
    const known = KNOWN_TOKENS[network].map(({ symbol, mint, decimals, program }) => [symbol, mint, decimals, program]);
    const defaults = DEFAULT_ASSETS[toCaip2(network)] ?? [];
    const official = defaults.map((it) => [it.symbol, it.asset, it.decimals, it.tokenProgram]);
    const sol = [
      'SOL',
      'So11111111111111111111111111111111111111112',
      9,
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    ];
    expect(known).toEqual(expect.arrayContaining([...official, sol]));
  });

  test.each(LISTS)('on %s: USDC is first, addresses are addresses, no symbol or mint stands twice', (_, tokens) => {
    expect(tokens[0]?.symbol).toBe('USDC');
    expect(tokens.flatMap(({ mint, program }) => [mint, program]).every(isAddress)).toBe(true);
    expect(new Set(tokens.map(({ symbol }) => symbol)).size).toBe(tokens.length);
    expect(new Set(tokens.map(({ mint }) => mint)).size).toBe(tokens.length);
  });

  test('are what counts as a dollar, and SOL does not', () => {
    const symbols = LISTS.flatMap(([, tokens]) => tokens.map(({ symbol }) => symbol));
    expect(symbols).toEqual(expect.arrayContaining([...DOLLARS]));
    expect(DOLLARS.has('SOL')).toBe(false);
  });

  test('the sandbox has USDT at its mainnet address', () => {
    const usdt = SANDBOX_TOKENS.find(({ symbol }) => symbol === 'USDT');
    expect(usdt?.mint).toBe('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB');
  });
});
