import type { BlockhashCache } from '../../solana/confirmation/blockhash-cache.js';
import type { Landing } from '../../solana/confirmation/confirmation.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';
import type { InspectedPayment } from '../backend/backend.js';
import type { LandedReader } from '../backend/landed-reader.js';
import { unavailable } from '../backend/outcomes.js';
import type { VerifiedCache } from './look-at-funds.js';

/** What judging takes. */
export interface RefusalParts {
  readonly rpc: SolanaRpc;
  readonly blockhashes: Pick<BlockhashCache, 'lastValidBlockHeightOf'>;
  readonly landed: LandedReader;
  /** Since when the ledger remembers every payment; missing where it does not forget. Milliseconds since the epoch. */
  readonly remembersSince?: number | undefined;
  /** Until when it remembers everything from before that; missing where that is nothing. */
  readonly remembersUntil?: number | undefined;
}

/**
 * What a refusal comes to. `landed`: the chain knows the transaction, and it is the one that was just sent. `may_land`: nothing
 * speaks against it but the word of one node. `refused`: it fails, by Solana's TransactionError.
 */
export type RefusalVerdict =
  | { readonly status: 'landed' }
  | { readonly status: 'may_land' }
  | { readonly status: 'refused'; readonly err: unknown };

/** The chain tells the second in which a block was made, and clocks differ a little. */
const CLOCK_MS = 2_000;
/** Of what was seen on its way the chain can tell a second or two later. */
const READS = 3;

const AGAIN = 'send the same payment again: it is taken once at most.';
const UNKNOWN_YET = `The Solana RPC does not tell at the moment what became of the payment; ${AGAIN}`;
const NOT_TAKEN = `The Solana RPC takes no transactions at the moment; ${AGAIN}`;

/**
 * Judges a transaction that a node has refused after a simulation, and that was looked for on the chain since. The node may lag behind, or
 * have got it from something that had passed it on already. So it is simulated once more: one that now would succeed was not
 * refused for what it is.
 * @throws {TollhouseError} `payment_backend_unavailable` while the chain does not tell
 */
export async function judgeRefusal(
  parts: RefusalParts,
  verified: VerifiedCache,
  inspected: InspectedPayment,
  signature: string,
  { err: first }: Extract<Landing, { readonly status: 'rejected' }>,
): Promise<RefusalVerdict> {
  const err = first === 'AlreadyProcessed' ? first : await simulateAgain(parts, inspected);
  if (err === null) return { status: 'may_land' };
  const isOurs = err === 'AlreadyProcessed' && (await hasJustLanded(parts, verified, inspected, signature));
  if (isOurs) return { status: 'landed' };
  const isAlive = err === 'BlockhashNotFound' && (await isBlockhashAlive(parts, inspected));
  return isAlive ? { status: 'may_land' } : { status: 'refused', err };
}

/** Whether a blockhash of ours is dead is told by the block height, and by no node that may not have got it yet. */
async function isBlockhashAlive(
  { rpc, blockhashes }: RefusalParts,
  { transaction }: InspectedPayment,
): Promise<boolean> {
  const last = blockhashes.lastValidBlockHeightOf(transaction.blockhash);
  if (last === undefined) return false;
  const { blockHeight } = await rpc.getTip('confirmed').catch(unknownYet);
  return blockHeight <= last;
}

async function simulateAgain({ rpc }: RefusalParts, { transaction }: InspectedPayment): Promise<unknown> {
  const { err } = await rpc.simulateTransaction(transaction.bytes, { commitment: 'processed' }).catch(unknownYet);
  return err;
}

/**
 * Whether a transaction that the chain knows already is the one that was just sent: what stands before the node may
 * send it twice and hand on the second response. Only our key makes the signature, so where the books know every payment it
 * can be no other; with books that were forgotten at a restart it may have been used before that.
 */
async function hasJustLanded(
  { landed, blockhashes, ...memory }: RefusalParts,
  verified: VerifiedCache,
  { transaction, judge }: InspectedPayment,
  signature: string,
): Promise<boolean> {
  const { remembersSince, remembersUntil } = memory;
  // What pays a request names it, and is found by that; where its books were lost it may have been shown since.
  const isNamed = judge !== undefined && remembersUntil === undefined;
  if (isNamed || remembersSince === undefined || verified.has(transaction.messageHash)) return true;
  // Made with a blockhash that was handed out since.
  if (blockhashes.lastValidBlockHeightOf(transaction.blockhash) !== undefined) return true;
  for (let reads = 0; reads < READS; reads += 1) {
    const { blockTime } = (await landed(signature)) ?? {};
    if (blockTime !== undefined) return blockTime > remembersSince + CLOCK_MS;
  }
  throw unavailable(UNKNOWN_YET);
}

/** The error for a transaction that no node took, where none says that anything is wrong with it. It may land all the same. */
export function notTaken(error: RpcError): Error {
  return unavailable(NOT_TAKEN, error);
}

function unknownYet(error: unknown): never {
  if (error instanceof RpcError) throw unavailable(UNKNOWN_YET, error);
  throw error;
}
