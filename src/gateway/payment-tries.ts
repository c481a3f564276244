import type { Counters } from '../storage/counters.js';
import type { PaymentTries } from './gateway.js';

/** A payment stays good for so many tries, in this time (service.md §4). */
export const MAX_TRIES = 3;
const WINDOW_MS = 600_000;

/** Counts tries where all instances see them. While the counters cannot be reached, a payment that is held may be tried. */
export function createPaymentTries(counters: Pick<Counters, 'increment'>): PaymentTries {
  return {
    async take(paymentId) {
      try {
        return (await counters.increment(`tries:${paymentId}`, WINDOW_MS)).count <= MAX_TRIES;
      } catch {
        return true;
      }
    },
  };
}
