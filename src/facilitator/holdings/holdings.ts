import { TollhouseError } from '../../errors/errors.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import { SOL_MINT } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';
import { createAccountBatch } from '../../solana/accounts/account-batch.js';
import { TOKEN_HEAD_BYTES } from '../../solana/accounts/token-accounts.js';
import { METADATA_BYTES } from '../../solana/accounts/token-metadata.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';
import { associatedAmount } from './associated-amount.js';
import { type CollectionParts, readCollection } from './collection.js';
import type { Holding, HoldingQuery, HoldingsReader } from './holding.js';
import { createMetadataMemory } from './metadata-memory.js';
import { createMintMemory } from './mint-memory.js';
import { createWalletAccounts } from './wallet-accounts.js';

/** Above this many mints one look at all of a wallet's token accounts is cheaper than one at each associated account. */
const MAX_ASSOCIATED = 16;
const BATCH = { quietMs: 15, longestMs: 400, quietPerSecond: 4 };
const RETRY_SECONDS = 2;

/** Reads holdings from a cluster. The tokens that everybody knows cost no call, the others of `tokens` one. */
export function createHoldingsReader(rpc: SolanaRpc, tokens: readonly Token[]): HoldingsReader {
  const load = createAccountBatch(rpc, { ...BATCH, headBytes: TOKEN_HEAD_BYTES });
  const mints = createMintMemory(load, tokens);
  const parts: CollectionParts = {
    accounts: createWalletAccounts(rpc),
    load,
    findMint: mints.find,
    findOrigin: createMetadataMemory(createAccountBatch(rpc, { ...BATCH, headBytes: METADATA_BYTES })),
  };
  return {
    readMint: (mint) => online(parts.findMint(mint)),
    declaredFault: mints.fault,
    readHolding: (query) => online(readHolding(query, parts)),
    readCollection: (query) => online(readCollection(query, parts)),
  };
}

async function readHolding(query: HoldingQuery, parts: CollectionParts): Promise<Holding> {
  const { wallet, mints, atLeast, lookFurther } = query;
  const lamports = mints.includes(SOL_MINT) ? ((await parts.load(wallet))?.lamports ?? 0n) : 0n;
  let shown = lamports;
  if (atLeast !== undefined && shown < atLeast && mints.length <= MAX_ASSOCIATED) {
    shown = sum([lamports, ...(await Promise.all(mints.map((mint) => associatedAmount(wallet, mint, parts))))]);
  }
  if (atLeast !== undefined && shown >= atLeast) return withAmountJson({ amount: shown, exact: false });
  const everywhere = async (): Promise<Holding> =>
    withAmountJson({ amount: lamports + (await inAllAccounts(wallet, mints, parts)), exact: true });
  return lookFurther === undefined ? everywhere() : lookFurther(everywhere, shown);
}

async function inAllAccounts(wallet: string, mints: readonly string[], { accounts }: CollectionParts): Promise<bigint> {
  const [only] = mints;
  if (mints.length === 1 && only !== undefined) {
    return sum((await accounts.ofMint(wallet, only)).map(({ amount }) => amount));
  }
  const wanted = new Set(mints);
  const held = (await accounts.ofAll(wallet)).filter(({ mint }) => wanted.has(mint));
  return sum(held.map(({ amount }) => amount));
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
