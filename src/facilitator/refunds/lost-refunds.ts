import { boundedCache } from '../../lib/bounded-cache.js';
import { defined } from '../../lib/defined.js';
import type { NetworkId } from '../../protocol/types.js';
import type { LandedPayout } from '../../storage/payouts/payout-store.js';
import { MOST_REFUNDS, type RefundablePass } from '../../storage/payouts/refund-store.js';
import { lostFrom, type Memory } from '../payments/lost-period.js';
import type { PastPayouts, PayoutTrace } from '../payouts/past-payouts.js';
import { isBooked, REFUND_PREFIX, refundIdOf } from './past-refunds.js';
import { bookLanded, type RefundWorkParts } from './refund-work.js';

/** The refunds that were paid after a backup was made which was restored since. */
export interface LostRefunds {
  /** Whether all of them are booked: until then, credit from before the restore may have been paid back. */
  isFound(): boolean;
  /**
   * Looks for them on the chain and books them: what they have paid back is out of use. Once that is done it asks nobody any more.
   * Rejects with `chain_unavailable`, or `store_unavailable`; what it has looked at by then it looks at no more.
   */
  find(): Promise<void>;
}

/** What they are looked for with. */
export interface LostRefundsParts extends RefundWorkParts {
  readonly network: NetworkId;
  /** The wallet that pays refunds, base58. */
  readonly wallet: string;
  readonly memory: Memory;
}

/** Transactions that are looked at at once. */
const AT_ONCE = 8;
/** As many as were looked at are remembered: whoever has to begin anew asks for each of them once. */
const MOST_LOOKED = 100_000;

/** Makes what looks for them. Books that were never restored have lost none. */
export function createLostRefunds(parts: LostRefundsParts): LostRefunds {
  const { book, network, wallet, memory } = parts;
  const { remembersSince: restoredAt, remembersUntil } = memory;
  let isFound = restoredAt === undefined || remembersUntil === undefined;
  let isDone = isFound;
  const looked = boundedCache<string, true>({ max: MOST_LOOKED });

  return {
    isFound: () => isFound,
    async find() {
      if (isDone || restoredAt === undefined) return;
      if (!(await book.isSearched(network, wallet, restoredAt))) {
        await search(parts, looked);
        await book.noteSearched(network, wallet, restoredAt);
      }
      isFound = true;
      isDone = true;
    },
  };
}

/**
 * Reads the history of the refund wallet, back to when the books were complete. It is told once nothing can be added to it any more that was
 * sent before the restore.
 */
async function search(parts: LostRefundsParts, looked: Looked): Promise<void> {
  const past = parts.sender.past(parts.wallet, REFUND_PREFIX);
  const from = lostFrom(parts.memory);
  for (let before: string | undefined, isOver = false; !isOver; ) {
    const { traces, oldestTime, next } = await past.page(before);
    for (const lot of lotsOf(traces.filter(({ signature }) => !looked.has(signature)))) {
      const looks = await Promise.allSettled(
        lot.map(async (trace) => {
          await lookAt(parts, past, trace);
          looked.set(trace.signature, true);
        }),
      );
      const failed = looks.find((it) => it.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
    isOver = next === undefined || (oldestTime !== undefined && oldestTime < from);
    before = next;
  }
}

type Looked = Pick<ReturnType<typeof boundedCache<string, true>>, 'has' | 'set'>;

function lotsOf<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, n) => all.slice(n * AT_ONCE, (n + 1) * AT_ONCE));
}

async function lookAt(parts: LostRefundsParts, past: PastPayouts, { signature, id }: PayoutTrace): Promise<void> {
  if (id !== undefined && (await isBooked(parts.book, id, signature))) return;
  const landed = await past.landed(signature);
  if (landed !== undefined && !(await isBooked(parts.book, landed.id, signature))) await bookLost(parts, landed);
}

/** One that fits no pass has paid back what was bought after the backup: the books do not know that either. */
async function bookLost(parts: LostRefundsParts, landed: LandedPayout): Promise<void> {
  const { ledger, wallet } = parts;
  const { id, mint, legs } = landed;
  for (const { recipient, amount } of legs) {
    const pass = await passOf(parts, recipient, id);
    if (pass === undefined) continue;
    const { passId, paymentId, bought: taken } = pass;
    const payment = await ledger.find(paymentId);
    const { owner = payment?.terms.payTo ?? wallet, projectId } = payment ?? {};
    const whose = { owner, ...defined({ projectId }) };
    // All that was left of it.
    const refund = { id, paymentId, passId, network: parts.network, wallet, recipient, ...whose, mint, amount, taken };
    await bookLanded(parts, refund, landed);
  }
}

/** The pass of a wallet that a refund has paid back: the refund's id is made of its payment. */
async function passOf(
  { book }: LostRefundsParts,
  wallet: string,
  refundId: string,
): Promise<RefundablePass | undefined> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await book.refundable(wallet, after);
    const found = page.find(({ paymentId }) => isRefundOf(refundId, paymentId));
    if (found !== undefined) return found;
    after = page.at(-1)?.passId;
  }
  return undefined;
}

function isRefundOf(refundId: string, paymentId: string): boolean {
  for (let count = 0; count < MOST_REFUNDS; count += 1) {
    if (refundIdOf(paymentId, count) === refundId) return true;
  }
  return false;
}
