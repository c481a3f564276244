import { randomUUID } from 'node:crypto';
import type { PayoutOutcome } from '../../facilitator/payouts/payout-fate.js';
import type { PayoutRecord, SignedPayout } from '../../storage/payouts/payout-store.js';
import { type ConcludingParts, concludePayout, givePayoutBack, PAYOUT_LEASE_MS } from './payout-work.js';

/** What {@link resolvePayout} works with. */
export interface ResolvingParts extends ConcludingParts {
  /** Asks every node what became of a payout. */
  fate(signed: SignedPayout): Promise<PayoutOutcome>;
}

/** Somebody knows that a payout has not landed. */
export interface FailedForCertain {
  /** Whether the last block that could take it is final. */
  isPastLanding(signed: SignedPayout): Promise<boolean>;
}

/**
 * What came of it: it was resolved, and `payout` is how it stands now; it is still open; nothing of it was ever sent, which is
 * the server's to go on with; a running server is at work on it; or it can still land, and cannot be called failed.
 */
export interface Resolution {
  readonly status: 'resolved' | 'open' | 'unsent' | 'busy' | 'may_land';
  readonly payout: PayoutRecord;
}

/**
 * Asks the chain about one payout that is not over, and books what it says.
 * @param certain - somebody knows that it has not landed, where the chain does not tell: it is booked as failed if it can land no
 *   more and no node has seen it. It is paid a second time if that somebody is wrong. Default: nobody does
 */
export async function resolvePayout(
  parts: ResolvingParts,
  payout: PayoutRecord,
  certain?: FailedForCertain,
): Promise<Resolution> {
  const { book } = parts;
  const { id, signed } = payout;
  if (signed === undefined) return { status: 'unsent', payout };
  const lease = randomUUID();
  if ((await book.takeOne(id, lease, PAYOUT_LEASE_MS)) === undefined) return { status: 'busy', payout };
  try {
    const outcome = await parts.fate(signed);
    const isOpen = outcome.status === 'unknown' || outcome.status === 'expired';
    if (certain === undefined || !isOpen) await concludePayout(parts, payout, lease, outcome);
    else if (await certain.isPastLanding(signed)) await callFailed(parts, payout, lease);
    else {
      await givePayoutBack(parts, payout, lease);
      return { status: 'may_land', payout };
    }
  } catch (error) {
    await givePayoutBack(parts, payout, lease);
    throw error;
  }
  const after = (await book.find(id)) ?? payout;
  return { status: after.state === 'broadcast' ? 'open' : 'resolved', payout: after };
}

async function callFailed({ book, now }: ResolvingParts, { id, signed }: PayoutRecord, lease: string): Promise<void> {
  const signature = signed?.signature ?? '';
  await book.recordFailed(id, lease, { reason: 'expired', signature, heldUntil: now() });
}
