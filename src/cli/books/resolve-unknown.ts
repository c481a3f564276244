import type { PastPayouts } from '../../facilitator/payouts/past-payouts.js';
import { createUnknownPayouts } from '../../gateway/payouts/unknown-payouts.js';
import type { NetworkId } from '../../protocol/types.js';
import type { LandedPayout, PayoutStore } from '../../storage/payouts/payout-store.js';
import { printStep } from '../output/terminal.js';

/**
 * Books payouts that a split wallet has made and the books do not know, the oldest first, and says what could not be booked.
 * @returns how many could not, and hold somebody back
 */
export async function resolveUnknown(
  book: PayoutStore,
  network: NetworkId,
  past: PastPayouts,
  wallet: string,
): Promise<number> {
  const look = createUnknownPayouts({ book, past, network, wallet, callsPerLook: Number.POSITIVE_INFINITY });
  const unknown = [...(await look())].sort((a, b) => a.slot - b.slot);
  let left = 0;
  for (const landed of unknown) {
    const booked = await book.bookLanded(network, landed);
    const about = `${landed.id}: the chain has it in slot ${landed.slot}, ${landed.signature}, and the books did not`;
    if (booked === undefined) {
      const { isAwaited, why } = await unmatched(book, landed);
      printStep('unknown', `${about}; ${why}`);
      if (isAwaited) left += 1;
      continue;
    }
    const { payout, beyond } = booked;
    const rest =
      beyond === 0n ? '' : `; ${beyond} of it was for payments that are not in the books: npx tollhouse reconcile`;
    printStep('paid', `${about}; booked for project ${payout.projectId}, ${shown(landed)}${rest}`);
  }
  return left;
}

/** Whether it keeps somebody waiting: one who is owed nothing cannot be paid twice. */
async function unmatched(book: PayoutStore, landed: LandedPayout) {
  const held = (await book.heldBack()).filter(({ held: it }) => it === 'unknown_payout');
  const waiting = held.filter(
    ({ mint, recipient }) => mint === landed.mint && landed.legs.some((it) => it.recipient === recipient),
  );
  const owed = waiting
    .map(({ amount, recipient, projectId }) => `${amount} to ${recipient} by ${projectId}`)
    .join(', ');
  const paid = `it has paid ${shown(landed)}, which is not what one project owed to them before`;
  if (owed === '') return { isAwaited: false, why: `${paid}; nobody is held back because of it` };
  return { isAwaited: true, why: `${paid}; held back because of it: ${owed}` };
}

function shown({ legs, mint }: LandedPayout): string {
  return legs.map(({ recipient, amount }) => `${amount} of ${mint} to ${recipient}`).join(', ');
}
