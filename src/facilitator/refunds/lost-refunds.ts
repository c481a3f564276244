import { randomUUID } from 'node:crypto';
import { TollhouseError } from '../../errors/errors.js';
import type { NetworkId } from '../../protocol/types.js';
import type { LandedPayout } from '../../storage/payouts/payout-store.js';
import { MOST_REFUNDS, type RefundablePass } from '../../storage/payouts/refund-store.js';
import { lostFrom, type Memory } from '../payments/lost-period.js';
import { isBooked, REFUND_PREFIX, refundIdOf } from './past-refunds.js';
import { advanceRefund, REFUND_LEASE_MS, type RefundWorkParts } from './refund-work.js';

/** The refunds that were paid after a backup was made which was restored since. */
export interface LostRefunds {
  /** Whether all of them are booked: until then, credit from before the restore may have been paid back. */
  isFound(): boolean;
  /**
   * Looks for them on the chain and books them: what they have paid back is out of use. Once that is done it asks nobody any more.
   * Rejects with `chain_unavailable`, `store_unavailable`, or `payment_in_progress` while another process books one of them.
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

/** Longer than a blockhash lives: what was sent just before the restore lands by then, or never. */
const LANDING_MS = 180_000;
/** What was paid is booked, whatever may be refunded. */
const NO_BOUND = { amount: 9_223_372_036_854_775_807n, since: 0 };

/** Makes what looks for them. Books that were never restored have lost none. */
export function createLostRefunds(parts: LostRefundsParts): LostRefunds {
  const { book, network, wallet, memory, now } = parts;
  const { remembersSince: restoredAt, remembersUntil } = memory;
  let isFound = restoredAt === undefined || remembersUntil === undefined;
  let isDone = isFound;

  return {
    isFound: () => isFound,
    async find() {
      if (isDone || restoredAt === undefined) return;
      isDone = await book.isSearched(network, wallet, restoredAt);
      if (!isDone) await search(parts);
      isFound = true;
      if (isDone || now() < restoredAt + LANDING_MS) return;
      await book.noteSearched(network, wallet, restoredAt);
      isDone = true;
    },
  };
}

/** Reads the history of the refund wallet, back to when the books were complete. */
async function search(parts: LostRefundsParts): Promise<void> {
  const past = parts.sender.past(parts.wallet, REFUND_PREFIX);
  const from = lostFrom(parts.memory);
  for (let before: string | undefined, isOver = false; !isOver; ) {
    const { traces, oldestTime, next } = await past.page(before);
    for (const { signature, id } of traces) {
      if (id !== undefined && (await isBooked(parts.book, id, signature))) continue;
      const landed = await past.landed(signature);
      if (landed !== undefined && !(await isBooked(parts.book, landed.id, signature))) await bookLost(parts, landed);
    }
    isOver = next === undefined || (oldestTime !== undefined && oldestTime < from);
    before = next;
  }
}

/** One that fits no pass has paid back what was bought after the backup: the books do not know that either. */
async function bookLost(parts: LostRefundsParts, landed: LandedPayout): Promise<void> {
  const { book, ledger, network, wallet } = parts;
  const { id, mint, legs } = landed;
  for (const { recipient, amount } of legs) {
    const pass = await passOf(parts, recipient, id);
    if (pass === undefined) continue;
    const { passId, paymentId, left: taken } = pass;
    const payment = await ledger.find(paymentId);
    const owner = payment?.owner ?? payment?.terms.payTo ?? wallet;
    const refund = { id, paymentId, passId, network, wallet, recipient, owner, mint, amount, taken };
    const lease = randomUUID();
    await book.plan(refund, NO_BOUND, lease, REFUND_LEASE_MS);
    const planned = await book.find(id);
    if (planned !== undefined) await advanceRefund(parts, planned, lease, { past: { kind: 'same', landed } });
    if ((await book.find(id))?.state === 'planned') throw beingBooked(id);
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

function beingBooked(id: string): TollhouseError {
  const detail = `The refund ${id} was paid before the books were restored, and is being booked by another process.`;
  return new TollhouseError('payment_in_progress', detail, { retryAfterSeconds: 2 });
}
