import { defined } from '../../lib/defined.js';
import type { NetworkId } from '../../protocol/types.js';
import type { LandedPayout } from '../../storage/payouts/payout-store.js';
import type { RefundablePass } from '../../storage/payouts/refund-store.js';
import { lostFrom, type Memory } from '../payments/lost-period.js';
import { isBooked, refundIdsOf, signedOnChain, unbookedOf } from './past-refunds.js';
import type { RefundWorkParts } from './refund-work.js';

/** The refunds that were paid after a backup was made which was restored since. */
export interface LostRefunds {
  /** Whether all of them are booked: until then, credit from before the restore may have been paid back. */
  isFound(): boolean;
  /**
   * Looks for them on the chain and books them: what they have paid back is out of use. It goes on at the page that a call before it has
   * not finished; once all are read it asks nobody any more. Rejects with `chain_unavailable` or `store_unavailable`.
   */
  find(): Promise<void>;
}

/** What they are looked for with. */
export interface LostRefundsParts extends Pick<RefundWorkParts, 'book' | 'ledger' | 'historyOf' | 'onPaid'> {
  readonly network: NetworkId;
  /** The wallet that pays refunds, base58. */
  readonly wallet: string;
  readonly memory: Memory;
}

/** Makes what looks for them. Books that were never restored have lost none. */
export function createLostRefunds(parts: LostRefundsParts): LostRefunds {
  const { book, network, wallet, memory, historyOf } = parts;
  const { remembersSince: restoredAt, remembersUntil } = memory;
  let isFound = restoredAt === undefined || remembersUntil === undefined;
  let before: string | undefined;

  /** Reads the history of the refund wallet, back to when the books were complete. Nothing from before can land any more once it is shown. */
  async function search(): Promise<void> {
    const history = historyOf(wallet);
    for (let isOver = false; !isOver; ) {
      const { traces, oldestTime, next } = await history.page(before);
      for (const landed of await history.refundsAmong(await unbookedOf(book, traces))) await bookLost(parts, landed);
      isOver = next === undefined || (oldestTime !== undefined && oldestTime < lostFrom(memory));
      before = next;
    }
  }

  return {
    isFound: () => isFound,
    async find() {
      if (isFound || restoredAt === undefined) return;
      if (!(await book.isSearched(network, wallet, restoredAt))) {
        await search();
        await book.noteSearched(network, wallet, restoredAt);
      }
      isFound = true;
    },
  };
}

/** One that fits no pass has paid back what was bought after the backup: the books do not know that either. */
async function bookLost(parts: LostRefundsParts, landed: LandedPayout): Promise<void> {
  const { book, ledger, network, wallet } = parts;
  const { id, mint, legs, slot } = landed;
  if (await isBooked(book, id, landed.signature)) return;
  for (const { recipient, amount } of legs) {
    const pass = await passOf(parts, recipient, id);
    if (pass === undefined) continue;
    const { passId, paymentId, bought: taken } = pass;
    const payment = await ledger.find(paymentId);
    const { owner = payment?.terms.payTo ?? wallet, projectId } = payment ?? {};
    const whose = { owner, ...defined({ projectId }) };
    const refund = { id, paymentId, passId, network, wallet, recipient, ...whose, mint, amount, taken };
    const signed = signedOnChain(landed);
    if (await book.bookLanded(refund, signed, slot)) parts.onPaid({ ...refund, signed, slot });
  }
}

/** The pass of a wallet that a refund has paid back: the refund's id is made of its payment. */
async function passOf(
  { book }: Pick<LostRefundsParts, 'book'>,
  wallet: string,
  refundId: string,
): Promise<RefundablePass | undefined> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await book.refundable(wallet, after);
    const found = page.find(({ paymentId }) => refundIdsOf(paymentId).has(refundId));
    if (found !== undefined) return found;
    after = page.at(-1)?.passId;
  }
  return undefined;
}
