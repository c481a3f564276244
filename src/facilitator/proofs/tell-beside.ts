import { boundedCache } from '../../lib/bounded-cache.js';
import type { EventLog } from '../../storage/events/event-log.js';
import type { EventRecord } from '../../storage/events/events.js';
import { overpaidEvent, unmatchedEvent } from '../events/event-records.js';
import type { PaymentEventBus } from '../events/events.js';
import type { TellBeside } from './unmatched-payments.js';

/** What {@link createTellBeside} works with. */
export interface TellBesideParts {
  readonly events: Pick<PaymentEventBus, 'emit'>;
  /** Where events are kept. Default: nowhere, and listeners in this process are told alone. */
  readonly eventLog?: Pick<EventLog, 'appendOnce'> | undefined;
  /** Told of what went wrong; it is tried again by the next look. Default: nobody. */
  readonly onFault?: ((error: unknown) => void) | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** Events are kept for 30 days, and what is forgotten would be told anew. */
const TOLD_MS = 29 * 86_400_000;
const REMEMBERED = 10_000;

/** Makes what tells the seller once for each signature, whoever finds it however often. It never rejects. */
export function createTellBeside({ events, eventLog, onFault, now }: TellBesideParts): TellBeside {
  const told = boundedCache<string, true>({ max: REMEMBERED, ttl: TOLD_MS });

  async function isNew(event: EventRecord): Promise<boolean> {
    if (told.has(event.id)) return false;
    const isFirst = eventLog === undefined || (await eventLog.appendOnce(event));
    const isToldMeanwhile = told.has(event.id);
    told.set(event.id, true);
    return isFirst && !isToldMeanwhile;
  }

  async function tell(...[request, receipt, { surplus, unmatched }]: Parameters<TellBeside>): Promise<void> {
    const time = now();
    if (time > request.createdAt + TOLD_MS) return;
    if (receipt !== undefined && surplus > 0n && (await isNew(overpaidEvent(request, receipt, surplus, time)))) {
      events.emit('payment.overpaid', { request, receipt, surplus });
    }
    for (const { signature, reason, received } of unmatched) {
      const came = { request, signature, reason, received };
      if (await isNew(unmatchedEvent(came, time))) events.emit('payment.unmatched', came);
    }
  }

  return (...came) => tell(...came).catch((error: unknown) => onFault?.(error));
}
