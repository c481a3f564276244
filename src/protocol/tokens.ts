import type { NetworkId, Token } from './types.js';

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

/** Wrapped SOL has the same mint on every cluster. A payment "in SOL" is a transfer of it. */
const SOL = token('SOL', 'So11111111111111111111111111111111111111112', 9, TOKEN);

const USDT = token('USDT', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 6, TOKEN);

// The issuers use one set of test mints for both clusters.
const TEST_TOKENS: readonly Token[] = [
  token('USDC', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 6, TOKEN),
  token('USDG', '4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7', 6, TOKEN_2022),
  token('PYUSD', 'CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM', 6, TOKEN_2022),
  SOL,
];

/**
 * Tokens that can be asked for by symbol on each network; USDC, which a price in dollars means, comes first. The official
 * client recognises the stablecoins among them without being told (`DEFAULT_ASSETS` of `@x402/svm`).
 */
export const KNOWN_TOKENS: Readonly<Record<NetworkId, readonly Token[]>> = {
  solana: [
    token('USDC', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 6, TOKEN),
    USDT,
    token('USDG', '2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH', 6, TOKEN_2022),
    token('PYUSD', '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo', 6, TOKEN_2022),
    token('CASH', 'CASHx9KJUStyftLFWGvEVf59SGeG9sh5FfcnZMVPCASH', 6, TOKEN_2022),
    SOL,
  ],
  'solana-devnet': TEST_TOKENS,
  'solana-testnet': TEST_TOKENS,
};

/** Tokens of the sandbox chain when it answers as devnet: devnet's, and USDT, which has no mint of its own there. */
export const SANDBOX_TOKENS: readonly Token[] = [...TEST_TOKENS, USDT];

function token(symbol: string, mint: string, decimals: number, program: string): Token {
  return Object.freeze({ symbol, mint, decimals, program });
}
