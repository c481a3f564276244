import type { SandboxNetwork } from './options.js';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './token-layout.js';

/** A token that exists on the sandbox chain from the start, at its real address. */
export interface SandboxToken {
  readonly symbol: 'USDC' | 'USDT' | 'PYUSD';
  readonly mint: string;
  readonly decimals: number;
  /** Token program that owns the mint. */
  readonly program: string;
}

const USDT_MINT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';

const MINTS: Readonly<Record<SandboxNetwork, Readonly<Record<SandboxToken['symbol'], string>>>> = {
  'solana-devnet': {
    USDC: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
    USDT: USDT_MINT,
    PYUSD: 'CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM',
  },
  solana: {
    USDC: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    USDT: USDT_MINT,
    PYUSD: '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo',
  },
};

/**
 * The tokens of a network. PYUSD belongs to Token-2022; its mint here is a plain one, without the extensions of the real
 * mint.
 */
export function tokensOf(network: SandboxNetwork): readonly SandboxToken[] {
  const { USDC, USDT, PYUSD } = MINTS[network];
  return [
    { symbol: 'USDC', mint: USDC, decimals: 6, program: TOKEN_PROGRAM },
    { symbol: 'USDT', mint: USDT, decimals: 6, program: TOKEN_PROGRAM },
    { symbol: 'PYUSD', mint: PYUSD, decimals: 6, program: TOKEN_2022_PROGRAM },
  ];
}
