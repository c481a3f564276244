import { defined } from '../../lib/defined.js';
import { readChainTime } from '../../solana/accounts/chain-time.js';
import type { BlockhashCache } from '../../solana/confirmation/blockhash-cache.js';
import type { Landing } from '../../solana/confirmation/confirmation.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';
import type { InspectedPayment } from '../backend/backend.js';
import type { LandedReader } from '../backend/landed-reader.js';
import { unavailable } from '../backend/outcomes.js';
import type { EarlierSend } from '../backend/refused-sends.js';
import { isBlockhashAlive, type VerifiedCache } from './look-at-funds.js';

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

/** A transaction that was sent and refused. */
export interface RefusedTransaction {
  readonly signature: string;
  /** Before it was sent, by `performance.now`. */
  readonly sentAt: number;
  /** Its outcome was known here before: whoever shows it now was not the one that made it land. */
  readonly isOver: boolean;
  /** Who had it sent before. */
  readonly before: EarlierSend | undefined;
}

/**
 * What a refusal comes to. `landed`: the chain knows the transaction, and it is the one that was just sent. `may_land`: nothing
 * speaks against it but the word of one node. `refused`: it fails, by Solana's TransactionError, in the bank of a slot.
 */
export type RefusalVerdict =
  | { readonly status: 'landed' }
  | { readonly status: 'may_land' }
  | { readonly status: 'refused'; readonly err: unknown; readonly slot?: number | undefined };

/** The chain tells the second in which a block was made, and clocks differ a little. */
const CLOCK_MS = 2_000;
/** So far may the clock of an instance be from the chain's: beyond that nothing is forgotten that was used, which could pass for what is noted. */
const CLOCKS_MS = 30_000;
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
  refused: RefusedTransaction,
  { err: first }: Extract<Landing, { readonly status: 'rejected' }>,
): Promise<RefusalVerdict> {
  const { err, slot } = first === 'AlreadyProcessed' ? { err: first } : await simulateAgain(parts, inspected);
  if (err === null) return { status: 'may_land' };

  const isOurs = err === 'AlreadyProcessed' && (await hasJustLanded(parts, verified, inspected, refused));
  const { before, signature } = refused;
  if (isOurs || (before?.by === 'same' && (await hasLandedSince(parts.landed, signature, before))))
    return { status: 'landed' };
  const isAlive = err === 'BlockhashNotFound' && (await isBlockhashAlive(parts, inspected).catch(unknownYet));
  return isAlive ? { status: 'may_land' } : { status: 'refused', err, ...defined({ slot }) };
}

function simulateAgain(
  { rpc }: RefusalParts,
  { transaction }: InspectedPayment,
): Promise<{ readonly err: unknown; readonly slot?: number }> {
  return rpc.simulateTransaction(transaction.bytes, { commitment: 'processed' }).catch(unknownYet);
}

/** Whether what was refused before has landed all the same, and not before it was sent; a blockhash that has expired since hides that. */
export async function hasLandedSince(
  landed: LandedReader,
  signature: string,
  { since }: Extract<EarlierSend, { readonly by: 'same' }>,
): Promise<boolean> {
  return (await landed(signature)) !== undefined && (await timeOfLanding(landed, signature)) > since - CLOCKS_MS;
}

/**
 * Whether a transaction that the chain knows already is the one that was just sent: what stands before the node may
 * send it twice and hand on the second response. That only our key makes the signature proves nothing of who shows it: what has
 * landed is public, and books that were lost do not know it.
 */
async function hasJustLanded(
  parts: RefusalParts,
  verified: VerifiedCache,
  { transaction, judge }: InspectedPayment,
  { signature, sentAt, isOver, before }: RefusedTransaction,
): Promise<boolean> {
  const { landed, blockhashes, remembersSince, remembersUntil } = parts;

  if (before?.by === 'other') return false;
  // What pays a request names it, and is found by that; where its books were lost it may have been shown since.
  if (judge !== undefined && remembersUntil === undefined) return true;
  if (remembersSince === undefined) return !isOver && (await hasLandedSinceSent(parts, sentAt, signature));
  // Seen before it landed, or made with a blockhash that was handed out since: the books, which know everything since, do not know it.
  if (verified.has(transaction.messageHash)) return true;
  if (blockhashes.lastValidBlockHeightOf(transaction.blockhash) !== undefined) return true;
  return (await timeOfLanding(landed, signature)) > remembersSince + CLOCK_MS;
}

/** Whether it landed after it was sent, by the chain's own clock: nobody's else is asked. */
async function hasLandedSinceSent({ rpc, landed }: RefusalParts, sentAt: number, signature: string): Promise<boolean> {
  const landedAt = await timeOfLanding(landed, signature);
  const chainTime = await readChainTime(rpc).catch(unknownYet);
  if (chainTime === undefined) throw unavailable(UNKNOWN_YET);
  const ageMs = chainTime - landedAt;
  return performance.now() - ageMs >= sentAt - CLOCK_MS;
}

/** Milliseconds since the epoch, by the chain. */
async function timeOfLanding(landed: LandedReader, signature: string): Promise<number> {
  for (let reads = 0; reads < READS; reads += 1) {
    const { blockTime } = (await landed(signature)) ?? {};
    if (blockTime !== undefined) return blockTime;
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
