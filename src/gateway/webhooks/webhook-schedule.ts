import { retryAfterMs } from '../../lib/http/retry-after.js';
import type { AttemptOutcome } from '../../storage/webhooks/deliveries.js';
import type { WebhookResponse } from './webhook-sender.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Pauses between the attempts at a delivery, each from the failure of the attempt before (as in Standard
 * Webhooks). The first attempt is made at once, and so there are ten, within some 76 hours.
 */
export const PAUSES_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** A receiver that never answered with success for so long is not told any more, in milliseconds. */
export const FAILING_MS = 5 * 24 * HOUR_MS;

/** So much a pause may be shorter or longer, so that what failed at once does not come back at once. */
const JITTER = 0.2;
/** The longest time for which a receiver may ask. */
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;
const GONE = 410;

/** Where an attempt stands. */
export interface AttemptPlace {
  /** Attempts before this one by the schedule. */
  readonly place: number;
  /** When it ended, milliseconds since the epoch. */
  readonly now: number;
  /** A number from 0 to 1. */
  readonly random: number;
}

/**
 * What follows from a response: only 2xx is success, 410 and the tenth failure are the end. A `Retry-After` later than the
 * schedule is honoured, up to a day.
 */
export function outcomeOf(answer: WebhookResponse, { place, now, random }: AttemptPlace): AttemptOutcome {
  if (isSuccess(answer)) return { state: 'delivered' };
  const pause = PAUSES_MS[place];
  if (pause === undefined || isGone(answer)) return { state: 'failed' };
  const jittered = pause * (1 + JITTER * (2 * random - 1));
  const asked = Math.min(retryAfterMs(answer.retryAfter, now), MAX_RETRY_AFTER_MS);
  return { nextAt: now + Math.round(Math.max(jittered, asked)) };
}

/** Whether a receiver says that it is no more. */
export function isGone({ status }: WebhookResponse): boolean {
  return status === GONE;
}

function isSuccess({ status = 0, error }: WebhookResponse): boolean {
  return error === undefined && status >= 200 && status < 300;
}
