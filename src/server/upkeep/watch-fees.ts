import type { PaymentEvents } from '../../facilitator/events/events.js';
import type { Facilitator } from '../../facilitator/types.js';
import { wholeError } from '../../lib/error-text.js';
import type { Counters } from '../../storage/counters/counters.js';
import type { EventLog } from '../../storage/events/event-log.js';
import { newEvent } from '../../storage/events/events.js';
import type { ServerLogger } from '../logger.js';

/** Where {@link watchFees} tells what happened. */
export interface FeeWatchParts {
  readonly counters: Pick<Counters, 'takeOnce'>;
  readonly events: Pick<EventLog, 'append'>;
  readonly logger: ServerLogger;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

type LimitReached = PaymentEvents['wallet.fee_limit_reached'];

const HOUR_MS = 3_600_000;

/**
 * Tells, once in each hour in which it happens, that as much was paid for network fees as may be: the event
 * `wallet.fee_limit_reached`, which belongs to the fee payer's own wallet, written by one instance of several.
 */
export function watchFees(facilitator: Pick<Facilitator, 'on'>, parts: FeeWatchParts): void {
  const { logger } = parts;
  facilitator.on('wallet.fee_limit_reached', (reached) => {
    logger.warn(dataOf(reached), 'the network fees of this hour have reached their limit; nothing is signed');
    tell(reached, parts).catch((error: unknown) => {
      logger.warn({ reason: wholeError(error) }, 'an event was not written');
    });
  });
}

async function tell(reached: LimitReached, { counters, events, now }: FeeWatchParts): Promise<void> {
  const { wallet, endsAt } = reached;
  if (!(await counters.takeOnce(`fee-limit:${wallet}:${endsAt}`, HOUR_MS))) return;
  const event = { type: 'wallet.fee_limit_reached', owner: wallet, data: dataOf(reached) } as const;
  await events.append([newEvent(event, now())]);
}

function dataOf({ wallet, lamports, endsAt }: LimitReached) {
  return { wallet, lamports: String(lamports), until: new Date(endsAt).toISOString() };
}
