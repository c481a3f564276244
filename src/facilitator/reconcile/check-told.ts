import type { NetworkId } from '../../protocol/types.js';
import type { StrayEvent, ToldReader, Untold } from '../../storage/books/told-reader.js';
import type { Findings } from './finding.js';

/** What checking events needs. */
export interface ToldCheckParts {
  readonly told: ToldReader;
  readonly network: NetworkId;
  /** Since when all events are kept, milliseconds since the epoch. */
  readonly from: number;
}

const TELL = 'believe the payment, which is compared with the chain, and tell those who have read the events';

/** Compares what events tell about money with the books: each thing is told once, as it is, and nothing else is. */
export async function checkTold({ told, network, from }: ToldCheckParts, findings: Findings): Promise<void> {
  for (const { id, state, type, times, differs } of await told.payments(network, from)) {
    const detail =
      differs.length > 0 && times === 1
        ? differs.map((it) => `the payment's ${it.what} is ${it.booked}, and its event tells ${it.told}`).join('; ')
        : `the payment is ${state}, and ${shownTimes(times)} ${type}`;
    findings.differs({ kind: 'event', ids: [id], detail, advice: TELL });
  }
  strays('payment', await told.strayPayments(network, from), findings);
  untold('payout', 'payout.paid', await told.payouts(network, from), findings);
  strays('payout', await told.strayPayouts(network, from), findings);
  untold('refund', 'payment.refunded', await told.refunds(network, from), findings);
  strays('refund', await told.strayRefunds(network, from), findings);
  untold('charged call', 'call.succeeded or call.failed', await told.calls(from), findings);
  strays('paid call', await told.strayCalls(from), findings);
}

function strays(what: string, events: readonly StrayEvent[], findings: Findings): void {
  for (const { eventId, type, subject, state } of events) {
    const books = state === undefined ? `there is no such ${what}` : `the ${what} is ${state}`;
    const detail = `it tells ${type}, and in the books ${books}`;
    findings.differs({ kind: 'event', ids: [eventId, subject], detail, advice: TELL });
  }
}

function untold(what: string, type: string, found: readonly Untold[], findings: Findings): void {
  for (const { id, times } of found) {
    const detail = `the ${what} is in the books, and ${shownTimes(times)} ${type} of its amount`;
    findings.differs({ kind: 'event', ids: [id], detail, advice: TELL });
  }
}

function shownTimes(times: number): string {
  if (times === 0) return 'no event tells';
  return times === 1 ? 'an event tells' : `${times} events tell`;
}
