import { TollhouseError } from '../../errors/errors.js';
import type { TimeRange } from '../../storage/calls/call-store.js';
import { DAY_MS, windowEnd, windowStart } from '../../storage/calls/periods.js';

/** Length of the steps of a series, by the calendar in UTC. */
export type Interval = 'hour' | 'day' | 'month';

/** The range that is asked for, milliseconds since the epoch. */
export interface WantedRange {
  readonly interval: Interval;
  /** Default: as many steps before `to` as the default range has. */
  readonly from?: number | undefined;
  /** Default: now. */
  readonly to?: number | undefined;
}

/** Whole steps. */
export interface TimeSteps extends TimeRange {
  readonly interval: Interval;
  /** Starts of all steps, in order; at least one. */
  readonly starts: readonly number[];
}

/** Most steps of a series. */
export const MAX_STEPS = 1_000;

/** What is shown when no start is given: a day by the hour, thirty days by the day, a year by the month. */
const DEFAULT_MS: Readonly<Record<Interval, number>> = { hour: DAY_MS, day: 30 * DAY_MS, month: 365 * DAY_MS };

/**
 * The whole steps that a range touches.
 * @param now - milliseconds since the epoch
 * @throws TollhouseError `validation_failed` for a range that ends before it begins or has too many steps
 */
export function timeSteps({ interval, from, to }: WantedRange, now: number): TimeSteps {
  const end = to ?? now;
  const begin = from ?? Math.max(end - DEFAULT_MS[interval], 0);
  if (begin >= end) throw fault('/from', 'must be before "to"');
  const starts: number[] = [];
  let start = windowStart(interval, begin);
  while (start < end) {
    if (starts.length === MAX_STEPS) throw fault('/interval', tooMany(interval));
    starts.push(start);
    start = windowEnd(interval, start);
  }
  return { interval, starts, from: windowStart(interval, begin), to: start };
}

function tooMany(interval: Interval): string {
  const longer = interval === 'hour' ? 'ask for interval=day, or ' : '';
  return `makes more than ${MAX_STEPS} steps of this range; ${longer}bring "from" and "to" closer together`;
}

function fault(pointer: string, detail: string): TollhouseError {
  const errors = [{ pointer, code: 'custom', detail }];
  return new TollhouseError('validation_failed', `The request is not valid. ${pointer}: ${detail}.`, { errors });
}
