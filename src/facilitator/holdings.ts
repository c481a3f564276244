import { LRUCache } from 'lru-cache';
import { TollhouseError } from '../errors/errors.js';
import { withAmountJson } from '../protocol/money/amount-json.js';
import type { Token } from '../protocol/types.js';
import { createAccountBatch, type LoadAccount } from '../solana/accounts/account-batch.js';
import { type MintFacts, mintFactsOf, tokenAccountOf } from '../solana/accounts/token-accounts.js';
import { RpcError, type SolanaRpc, type TokenAccountFilter } from '../solana/rpc/rpc.js';
import { associatedTokenAddress } from '../solana/transaction/associated-token.js';
import { PROGRAMS } from '../solana/transaction/programs.js';

export type { MintFacts } from '../solana/accounts/token-accounts.js';

/** What is asked about a wallet. */
export interface HoldingQuery {
  /** Base58. */
  readonly wallet: string;
  /**
   * One mint, or the mints of a collection, base58; amounts of several are added up. The mint of wrapped SOL stands for
   * SOL in both its forms: lamports and wrapped.
   */
  readonly mints: readonly string[];
  /** Atomic units that are enough to know of. Default: the exact amount is wanted. */
  readonly atLeast?: bigint;
}

/** What a wallet holds. */
export interface Holding {
  /** Atomic units. */
  readonly amount: bigint;
  /** False when the wallet may hold more: it was not asked further once `atLeast` was reached. */
  readonly exact: boolean;
}

/** Reads from the chain what wallets hold. Rejects with `chain_unavailable` when the chain cannot be asked. */
export interface HoldingsReader {
  /** Decimals and token program of a mint; undefined when the address is none. What is known of a mint is remembered. */
  readMint(mint: string): Promise<MintFacts | undefined>;
  /**
   * What a wallet holds now, over all its token accounts; nothing is cached. Reads at the same time are batched, a hundred
   * accounts a call. A wallet's associated accounts are looked at first, and all others only where those do not decide.
   */
  readHolding(query: HoldingQuery): Promise<Holding>;
}

/** The mint that stands for SOL: that of wrapped SOL, on every cluster. */
export const SOL_ASSET = 'So11111111111111111111111111111111111111112';

const SOL: MintFacts = { decimals: 9, program: PROGRAMS.token };

/** Above this many mints one look at all of a wallet's token accounts is cheaper than one at each associated account. */
const MAX_ASSOCIATED = 16;
const MINTS_REMEMBERED = 10_000;
const MINT_MEMORY_MS = 300_000;
/** An address that is no mint yet may become one. */
const NO_MINT_MEMORY_MS = 15_000;
const BATCH = { quietMs: 15, longestMs: 400 };
const RETRY_SECONDS = 2;
/** JSON-RPC's "invalid params". */
const INVALID_PARAMS = -32_602;

/** Reads holdings from a cluster. Mints of `tokens` are known and cost no call. */
export function createHoldingsReader(rpc: SolanaRpc, tokens: readonly Token[]): HoldingsReader {
  const load = createAccountBatch(rpc, BATCH);
  const mints = createMintMemory(load, tokens);
  const readMint: HoldingsReader['readMint'] = (mint) => online(mints(mint));
  return {
    readMint,
    readHolding: (query) => online(readHolding(query, rpc, load, mints)),
  };
}

type FindMint = (mint: string) => Promise<MintFacts | undefined>;

function createMintMemory(load: LoadAccount, tokens: readonly Token[]): FindMint {
  const known = new Map<string, MintFacts>([[SOL_ASSET, SOL], ...tokens.map((token) => [token.mint, token] as const)]);
  const read = new LRUCache<string, MintFacts | 'none'>({
    max: MINTS_REMEMBERED,
    ttl: MINT_MEMORY_MS,
    async fetchMethod(mint, _stale, { options }) {
      const facts = mintFactsOf(await load(mint));
      if (facts === undefined) options.ttl = NO_MINT_MEMORY_MS;
      return facts ?? 'none';
    },
  });
  return async (mint) => {
    const facts = known.get(mint) ?? (await read.fetch(mint));
    return facts === 'none' ? undefined : facts;
  };
}

async function readHolding(
  query: HoldingQuery,
  rpc: SolanaRpc,
  load: LoadAccount,
  findMint: FindMint,
): Promise<Holding> {
  const { wallet, mints, atLeast } = query;
  const lamports = mints.includes(SOL_ASSET) ? await lamportsOf(wallet, load) : 0n;
  const exact = atLeast === undefined;
  if (!exact && lamports >= atLeast) return withAmountJson({ amount: lamports, exact: false });
  if (!exact && mints.length <= MAX_ASSOCIATED) {
    const associated = await Promise.all(mints.map((mint) => inAssociatedAccount(wallet, mint, load, findMint)));
    const amount = sum([lamports, ...associated]);
    if (amount >= atLeast) return withAmountJson({ amount, exact: false });
  }
  return withAmountJson({ amount: lamports + (await inAllAccounts(wallet, mints, rpc)), exact: true });
}

async function lamportsOf(wallet: string, load: LoadAccount): Promise<bigint> {
  return (await load(wallet))?.lamports ?? 0n;
}

async function inAssociatedAccount(
  wallet: string,
  mint: string,
  load: LoadAccount,
  findMint: FindMint,
): Promise<bigint> {
  const facts = await findMint(mint);
  if (facts === undefined) return 0n;
  const account = tokenAccountOf(await load(associatedTokenAddress(wallet, mint, facts.program)));
  // An associated account can be given away with all that is in it: its address stays, its owner does not.
  return account?.owner === wallet && account.mint === mint ? account.amount : 0n;
}

async function inAllAccounts(wallet: string, mints: readonly string[], rpc: SolanaRpc): Promise<bigint> {
  const [only] = mints;
  const filters: readonly TokenAccountFilter[] =
    mints.length === 1 && only !== undefined
      ? [{ mint: only }]
      : [{ programId: PROGRAMS.token }, { programId: PROGRAMS.token2022 }];
  const found = await Promise.all(filters.map((filter) => accountsOf(wallet, filter, rpc)));
  const wanted = new Set(mints);
  const amounts = found.flat().flatMap((state) => {
    const account = tokenAccountOf(state);
    return account !== undefined && account.owner === wallet && wanted.has(account.mint) ? [account.amount] : [];
  });
  return sum(amounts);
}

/** Of a mint that does not exist nobody holds anything, which a node calls an error. */
async function accountsOf(wallet: string, filter: TokenAccountFilter, rpc: SolanaRpc) {
  try {
    return await rpc.getTokenAccountsByOwner(wallet, filter, 'confirmed');
  } catch (error) {
    const noMint =
      error instanceof RpcError && error.details.code === INVALID_PARAMS && /find mint/i.test(error.message);
    if (noMint) return [];
    throw error;
  }
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

async function online<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const detail = 'The Solana RPC cannot be asked at the moment what this wallet holds; try again in a moment.';
    throw new TollhouseError('chain_unavailable', detail, { retryAfterSeconds: RETRY_SECONDS, cause: error });
  }
}
