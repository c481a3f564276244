import type { FacilitatorHealth } from '../../facilitator/setup/health.js';
import type { NetworkId } from '../../protocol/types.js';
import type { Counters } from '../../storage/counters/counters.js';
import type { EventLog } from '../../storage/events/event-log.js';
import { newEvent } from '../../storage/events/events.js';

/** Where {@link watchBalance} tells what it sees. */
export interface BalanceWatchParts {
  /** On which the wallet is looked at: one key may pay on several. */
  readonly network: NetworkId;
  readonly counters: Pick<Counters, 'takeOnce'>;
  readonly events: Pick<EventLog, 'append'>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** It is told again after this time, as long as it lasts; by one instance of several. */
const AGAIN_AFTER_MS = 86_400_000;

/**
 * Tells once a day that the fee payer is nearly or wholly empty: the event `wallet.low_balance`, which belongs to the fee
 * payer's own wallet.
 * @returns whether it was told now
 */
export async function watchBalance(
  { wallet, lamports, faults }: FacilitatorHealth,
  parts: BalanceWatchParts,
): Promise<boolean> {
  const isEmpty = faults.includes('fee_payer_empty');
  if (!isEmpty && !faults.includes('fee_payer_low')) return false;
  const state = isEmpty ? 'empty' : 'low';
  if (!(await parts.counters.takeOnce(`low-balance:${parts.network}:${wallet}:${state}`, AGAIN_AFTER_MS))) return false;
  const data = {
    wallet,
    network: parts.network,
    state,
    ...(lamports === undefined ? {} : { lamports: String(lamports) }),
  };
  await parts.events.append([newEvent({ type: 'wallet.low_balance', owner: wallet, data }, parts.now())]);
  return true;
}
