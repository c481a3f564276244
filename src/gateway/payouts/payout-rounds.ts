import { randomUUID } from 'node:crypto';
import { MAX_PAYOUT_LEGS, type PayoutRecord } from '../../storage/payouts/payout-store.js';
import { advancePayout, givePayoutBack, PAYOUT_LEASE_MS, type PayoutWorkParts } from './payout-work.js';

const AT_ONCE = 20;

/**
 * Makes what takes payouts that nobody holds and brings them further, and what comes of them at once as well. Each round leaves
 * one recipient out who cannot be paid, so that there are no more rounds than recipients.
 * @param onFault - told of what went wrong; it is tried again
 */
export function createAdvance(work: PayoutWorkParts, onFault: (error: unknown) => void): () => Promise<void> {
  const { book, sender } = work;

  async function advanceOne(payout: PayoutRecord, lease: string): Promise<boolean> {
    try {
      return await advancePayout(work, payout, lease);
    } catch (error) {
      onFault(error);
      await givePayoutBack(work, payout, lease);
      return false;
    }
  }

  return async () => {
    for (let round = 0, isMore = true; isMore && round <= MAX_PAYOUT_LEGS; round += 1) {
      const lease = randomUUID();
      const taken = await book.take(sender.network, lease, PAYOUT_LEASE_MS, AT_ONCE);
      isMore = (await Promise.all(taken.map((payout) => advanceOne(payout, lease)))).includes(true);
    }
  };
}
