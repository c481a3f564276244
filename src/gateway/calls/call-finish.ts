import type { CallRecord, CallStore, FinishOptions } from '../../storage/calls/call-store.js';
import type { Call } from './call.js';
import { callEvents, type ShownCall } from './call-records.js';

/** Writes a call with the events that tell of it. */
export type Finish = (record: CallRecord, shown: ShownCall, options: FinishOptions) => Promise<boolean>;

/** What {@link createFinish} works with. */
export interface FinishParts {
  readonly book: Pick<CallStore, 'finish'>;
  /** An event was written. */
  readonly wake: () => void;
  /** Told of what could not be written. */
  readonly onFault: (error: unknown) => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** Makes that which writes calls. */
export function createFinish({ book, wake, onFault, now }: FinishParts): Finish {
  return async (record, shown, options) => {
    const events = callEvents(shown, record, now());
    const written = await book.finish(record, { events, ...options }).catch((error: unknown) => {
      onFault(error);
      throw error;
    });
    wake();
    return written;
  };
}

/** What is held back for a call of its budgets. */
export function reservationOf({ held }: Call): { readonly reservationId?: string } {
  return held === undefined ? {} : { reservationId: held.id };
}

/** It was answered: what cannot be written now is not to be given back. */
export function markBooked(call: Call): void {
  call.held = undefined;
  call.isBooked = true;
}
