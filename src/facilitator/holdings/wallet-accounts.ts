import { TollhouseError } from '../../errors/errors.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import { type TokenAccount, tokenAccountOf } from '../../solana/accounts/token-accounts.js';
import { type AccountState, RpcError, type SolanaRpc, type TokenAccountFilter } from '../../solana/rpc/rpc.js';
import { PROGRAMS } from '../../solana/transaction/programs.js';

/** Lists what a wallet has: its token accounts of a mint, or all of them. Rejects with `wallet_too_large` or an RpcError. */
export interface WalletAccounts {
  ofMint(wallet: string, mint: string): Promise<readonly TokenAccount[]>;
  ofAll(wallet: string): Promise<readonly TokenAccount[]>;
}

/**
 * Most that a node may answer: some 1,500 accounts of one mint, of which people have one as a rule, and some 6,000 of a program.
 * Each costs its wallet, or whoever made it for that wallet, 0.002 SOL.
 */
const MAX_BYTES = { mint: 512 * 1024, program: 2 * 1024 * 1024 };
const TOO_LARGE_MEMORY_MS = 600_000;
const TOO_LARGE_REMEMBERED = 10_000;

/** JSON-RPC's "invalid params". */
const INVALID_PARAMS = -32_602;
/** Solana's for a scan that became too long, and for a key that a node keeps no index of since there is too much. */
const TOO_MUCH: ReadonlySet<unknown> = new Set([-32_012, -32_010]);

/**
 * Looks at token accounts within bounds. A wallet that has more is remembered for ten minutes: it costs one call and no more,
 * whoever asks about it.
 */
export function createWalletAccounts(rpc: Pick<SolanaRpc, 'getTokenAccountsByOwner'>): WalletAccounts {
  const tooLarge = boundedCache<string, true>({ max: TOO_LARGE_REMEMBERED, ttl: TOO_LARGE_MEMORY_MS });

  async function list(wallet: string, filter: TokenAccountFilter): Promise<readonly TokenAccount[]> {
    const key = 'mint' in filter ? `${wallet} ${filter.mint}` : wallet;
    if (tooLarge.has(key)) throw tooManyAccounts(wallet);
    try {
      const maxBytes = 'mint' in filter ? MAX_BYTES.mint : MAX_BYTES.program;
      const states = await rpc.getTokenAccountsByOwner(wallet, filter, 'confirmed', maxBytes);
      return states.flatMap((state) => accountOf(wallet, filter, state));
    } catch (error) {
      if (isMintMissing(error)) return [];
      if (!isTooLarge(error)) throw error;
      tooLarge.set(key, true);
      throw tooManyAccounts(wallet);
    }
  }

  return {
    ofMint: (wallet, mint) => list(wallet, { mint }),
    async ofAll(wallet) {
      const programs = [PROGRAMS.token, PROGRAMS.token2022];
      return (await Promise.all(programs.map((programId) => list(wallet, { programId })))).flat();
    },
  };
}

/** The error for a wallet that has more than is looked at. */
export function tooManyAccounts(wallet: string): TollhouseError {
  const detail = `The wallet ${wallet} has more token accounts than are looked at. Close those that are empty, or use another wallet.`;
  return new TollhouseError('wallet_too_large', detail);
}

/** What a node lists beyond what it was asked for counts for nothing. */
function accountOf(wallet: string, filter: TokenAccountFilter, state: AccountState): TokenAccount[] {
  const account = tokenAccountOf(state);
  const isAsked = account?.owner === wallet && (!('mint' in filter) || account.mint === filter.mint);
  return isAsked ? [account] : [];
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RpcError && (error.failure === 'too_large' || TOO_MUCH.has(error.details.code));
}

/** Of a mint that does not exist nobody holds anything, which a node calls an error. */
function isMintMissing(error: unknown): boolean {
  return error instanceof RpcError && error.details.code === INVALID_PARAMS && /find mint/i.test(error.message);
}
