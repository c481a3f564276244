import { KNOWN_TOKENS, SANDBOX_TOKENS } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';
import type { SandboxNetwork } from '../sandbox-options.js';

const TABLES: Readonly<Record<SandboxNetwork, readonly Token[]>> = {
  'solana-devnet': SANDBOX_TOKENS,
  solana: KNOWN_TOKENS.solana,
};
const FIRST = ['USDC', 'USDT', 'PYUSD'];

/**
 * Tokens that the sandbox gives away: all known ones of the network but SOL, which is not minted. Token-2022 mints are
 * plain ones here, without the extensions that the real ones have.
 */
export function tokensOf(network: SandboxNetwork): readonly Token[] {
  const minted = TABLES[network].filter(({ symbol }) => symbol !== 'SOL');
  const leading = FIRST.flatMap((symbol) => minted.filter((token) => token.symbol === symbol));
  return [...leading, ...minted.filter((token) => !leading.includes(token))];
}
