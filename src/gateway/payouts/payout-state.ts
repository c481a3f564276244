import type { PayoutRecord, PayoutState } from '../../storage/payouts/payout-store.js';

/** States of a payout as they are shown: one that was sent and of which nobody can say any more whether it landed is a state. */
export const SHOWN_STATES = ['created', 'broadcast', 'unknown', 'paid', 'failed'] as const satisfies readonly (
  | PayoutState
  | 'unknown'
)[];

/** The state of a payout for those whose it is, and for operators. */
export function shownPayoutState({
  state,
  reason,
}: Pick<PayoutRecord, 'state' | 'reason'>): (typeof SHOWN_STATES)[number] {
  return state === 'broadcast' && reason === 'outcome_unknown' ? 'unknown' : state;
}
