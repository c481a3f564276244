import type { NetworkId, Token } from '../types.js';

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

/** Mint of wrapped SOL, on every cluster. Where money is counted, it stands for native SOL as well. */
export const SOL_MINT = 'So11111111111111111111111111111111111111112';

/** Stands for native SOL where a payment names its asset: the System Program's address. */
export const SYSTEM_ADDRESS = '11111111111111111111111111111111';

/** An x402 payment "in SOL" is a transfer of wrapped SOL. */
export const SOL = token('SOL', SOL_MINT, 9, TOKEN);

/** Native SOL, as payment requests ask for it: the System Program is its mint and its program. */
export const NATIVE_TOKEN = token('SOL', SYSTEM_ADDRESS, 9, SYSTEM_ADDRESS);

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

/** Symbols of those that are worth a dollar: what is owed of them is paid out above some dollars, of others once a day. */
export const DOLLARS: ReadonlySet<string> = new Set(['USDC', 'USDT', 'USDG', 'PYUSD', 'CASH']);

const SYMBOLS: ReadonlySet<string> = new Set(Object.values(KNOWN_TOKENS).flatMap((all) => all.map((it) => it.symbol)));

/** Whether some network has a token of this symbol, in whatever case: where it is not known, it is no slip of the pen. */
export function isKnownSymbol(symbol: string): boolean {
  return SYMBOLS.has(symbol.toUpperCase());
}

/** Tokens of the sandbox chain when it answers as devnet: devnet's, and USDT, which has no mint of its own there. */
export const SANDBOX_TOKENS: readonly Token[] = [...TEST_TOKENS, USDT];

/** Tokens whose decimals and program are known beyond doubt, by mint. */
const BUILT_IN = new Map([...Object.values(KNOWN_TOKENS).flat(), ...SANDBOX_TOKENS].map((it) => [it.mint, it]));

/** What is known of a mint without asking the chain. */
export function builtInToken(mint: string): Token | undefined {
  return BUILT_IN.get(mint);
}

/** What a symbol may stand for, in whatever case, on any network. */
export function tokensNamed(symbol: string): readonly Token[] {
  return [...BUILT_IN.values()].filter((it) => it.symbol === symbol.toUpperCase());
}

/** Whether a token is as it is known: everything else that is configured the chain has to confirm. */
export function isBuiltIn({ mint, decimals, program }: Token): boolean {
  const known = BUILT_IN.get(mint);
  return known?.decimals === decimals && known.program === program;
}

/**
 * The name under which an asset is counted: budgets, figures, prices and books. Native SOL and wrapped SOL are the same
 * money, and both are counted as {@link SOL_MINT}; of everything else it is the mint.
 */
export function moneyOf(asset: string): string {
  return asset === SYSTEM_ADDRESS ? SOL_MINT : asset;
}

function token(symbol: string, mint: string, decimals: number, program: string): Token {
  return Object.freeze({ symbol, mint, decimals, program });
}
