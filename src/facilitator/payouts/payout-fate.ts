import type { Leg } from '../../protocol/money/split.js';
import { legAt } from '../../solana/building/payout-transaction.js';
import { RpcError, type SolanaNode, type SolanaRpc } from '../../solana/rpc/rpc.js';
import { decodeTransaction } from '../../solana/transaction/transaction.js';
import type { SignedPayout } from '../../storage/payouts/payout-store.js';

/**
 * What became of a payout that may have been sent. `expired`: it has not landed and never will. `unknown`: nothing final can
 * be said; with `isForgotten` nothing that is asked now will ever say it, because those who are asked have no history that
 * reaches back so far, or contradict each other.
 */
export type PayoutOutcome =
  | { readonly status: 'paid'; readonly slot: number }
  /** It has landed with an error (Solana's TransactionError), and that is final. */
  | { readonly status: 'failed'; readonly err: unknown }
  | { readonly status: 'expired' }
  | { readonly status: 'unknown'; readonly isForgotten?: boolean };

/** What one node tells: what it has seen; that it can still land; that it never did; or nothing that proves anything. */
type Sighting =
  | { readonly kind: 'paid'; readonly slot: number }
  | { readonly kind: 'failed'; readonly err: unknown }
  | { readonly kind: 'open' | 'early' | 'absent' | 'blind' };

/**
 * Pages of a wallet's history that are read at most for one payout, 1,000 transactions each: to fill them costs a stranger,
 * who can name the wallet in what he sends, 5 SOL.
 */
export const MAX_PAGES = 1_000;
const PAGES_AT_ONCE = 100;

/** How far the histories of wallets have been read for payouts that can land no more. Kept, the next look goes on there. */
export interface HistoryMarks {
  readonly marks: Map<string, { readonly before: string | undefined; readonly pages: number }>;
  /** How many pages one look reads at most. Default 100. */
  readonly pagesAtOnce?: number;
}

/**
 * Asks every node what became of a payout. It is called expired only when at least one of them has kept its history since
 * before the payout was signed, is finally past the last block that could take it, and knows it neither by its signature nor
 * in the history of the wallet that it would have been paid from; and when no other node has seen it.
 * @param read - what earlier looks have read of long histories. Default: nothing
 */
export async function findPayoutFate(
  rpc: Pick<SolanaRpc, 'nodes'>,
  signed: SignedPayout,
  read: HistoryMarks = { marks: new Map() },
): Promise<PayoutOutcome> {
  const told = await Promise.all((rpc.nodes ?? []).map((node) => look(node, signed, read).catch(silence)));
  const of = <K extends Sighting['kind']>(kind: K) =>
    told.filter((it): it is Extract<Sighting, { readonly kind: K }> => it?.kind === kind);
  const [paid] = of('paid');
  if (paid !== undefined) return { status: 'paid', slot: paid.slot };
  if (of('open').length > 0) return { status: 'unknown' };
  const [failed] = of('failed');
  const isAbsent = of('absent').length > 0;
  if (failed !== undefined)
    return isAbsent ? { status: 'unknown', isForgotten: true } : { status: 'failed', err: failed.err };
  if (isAbsent) return { status: 'expired' };
  return { status: 'unknown', isForgotten: of('early').length === 0 && of('blind').length > 0 };
}

/** Whether the last block that could take a payout is final, by at least one node: it can land no more. */
export async function isPastLanding(rpc: Pick<SolanaRpc, 'nodes'>, signed: SignedPayout): Promise<boolean> {
  const tips = await Promise.all((rpc.nodes ?? []).map((node) => node.getTip('finalized').catch(silence)));
  return tips.some((tip) => tip !== undefined && 'blockHeight' in tip && tip.blockHeight > signed.lastValidBlockHeight);
}

/** The share whose transfer an error of a payout's transaction is about; undefined when it is about something else. */
export function failedLegOf(err: unknown, legs: readonly Leg[]): Leg | undefined {
  const failed: unknown = Reflect.get(Object(err), 'InstructionError');
  return Array.isArray(failed) && typeof failed[0] === 'number' ? legAt({ legs }, failed[0]) : undefined;
}

/** The order matters: a look counts when it was made after the end, and what the node still has is asked last of all. */
async function look(node: SolanaNode, signed: SignedPayout, read: HistoryMarks): Promise<Sighting> {
  const { signature, lastValidBlockHeight, signedSlot } = signed;
  const tip = await node.getTip('finalized');
  const { slot, state } = await node.findSignature(signature);
  if (state !== null) {
    if (state.err === null)
      return state.commitment === 'processed' ? { kind: 'open' } : { kind: 'paid', slot: state.slot };
    return state.commitment === 'finalized' ? { kind: 'failed', err: state.err } : { kind: 'open' };
  }
  const isOver = tip.blockHeight > lastValidBlockHeight && slot >= tip.slot;
  // What was read while it could still land would have to be read again.
  const marks = isOver ? read : { ...read, marks: new Map() };
  const listed = signedSlot === undefined ? 'unread' : await findInHistory(node, signed, signedSlot, marks);
  if (typeof listed === 'object') return listed;
  if (!isOver || listed === 'unfinished') return { kind: 'early' };
  if (signedSlot === undefined) return { kind: 'blind' };
  const reachesBack = (await node.getFirstAvailableSlot()) <= signedSlot;
  return { kind: reachesBack && listed === 'missing' ? 'absent' : 'blind' };
}

/** Looks for it in what the node knows of the wallet that pays it, back to when it was signed. */
async function findInHistory(
  node: SolanaNode,
  { signature, transaction }: SignedPayout,
  signedSlot: number,
  { marks, pagesAtOnce = PAGES_AT_ONCE }: HistoryMarks,
): Promise<Sighting | 'missing' | 'unread' | 'unfinished'> {
  const wallet = payingWallet(transaction);
  if (wallet === undefined) return 'unread';
  const key = `${node.host} ${signature}`;
  let { before, pages } = marks.get(key) ?? { before: undefined, pages: 0 };
  for (const end = Math.min(pages + pagesAtOnce, MAX_PAGES); pages < end; pages += 1) {
    const entries = await node.getHistory(wallet, before);
    const found = entries.find((it) => it.signature === signature);
    // Its error is not told here, nor whether it is final.
    if (found !== undefined) return found.failed ? { kind: 'open' } : { kind: 'paid', slot: found.slot };
    const last = entries.at(-1);
    if (last === undefined || last.slot < signedSlot) {
      marks.delete(key);
      return 'missing';
    }
    before = last.signature;
  }
  marks.set(key, { before, pages });
  return pages < MAX_PAGES ? 'unfinished' : 'unread';
}

/** The fee payer signs first, and the split wallet after it. */
function payingWallet(transaction: Uint8Array): string | undefined {
  const decoded = decodeTransaction(transaction);
  return decoded.ok ? decoded.transaction.accounts[decoded.transaction.requiredSignatures - 1] : undefined;
}

/** A node that does not answer says nothing; one that refuses to, as those do that keep no history, will not prove anything. */
function silence(error: unknown): Sighting | undefined {
  if (!(error instanceof RpcError)) throw error;
  return error.failure === 'answer' ? { kind: 'blind' } : undefined;
}
