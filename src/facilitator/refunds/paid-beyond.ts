import type { PassStore } from '../../storage/passes/pass-store.js';
import type { RefundRecord, RefundStore } from '../../storage/payouts/refund-store.js';

/** Whether it was found on the chain, as its transaction was made before the books were restored. */
function isFoundOnChain({ state, signed }: RefundRecord): boolean {
  return state === 'paid' && signed?.transaction.length === 0;
}

/**
 * What refunds of credit have paid beyond what they took, atomic units: after a backup was restored, less may be left than was paid back,
 * and be given back later. Refunds after that take it without paying it.
 */
export function paidBeyond(refunds: readonly RefundRecord[]): bigint {
  let beyond = 0n;
  for (const refund of refunds.filter(({ state }) => state === 'paid')) {
    const more = refund.amount - refund.taken;
    // What was used meanwhile is lost: it was taken as well, and is owed to nobody.
    if (more > 0n || !isFoundOnChain(refund)) beyond += more;
  }
  return beyond > 0n ? beyond : 0n;
}

/** Whether a refund that was begun pays what others of its payment have paid that were found on the chain since. */
export async function wasPaidBefore(
  { book, passes }: { readonly book: Pick<RefundStore, 'ofPayment'>; readonly passes: Pick<PassStore, 'find'> },
  { id, paymentId, passId, amount, taken }: RefundRecord,
): Promise<boolean> {
  const others = (await book.ofPayment(paymentId)).filter((it) => it.id !== id);
  if (!others.some(isFoundOnChain)) return false;
  const pass = await passes.find(passId);
  return pass?.kind !== 'credit' || amount + paidBeyond(others) > taken;
}
