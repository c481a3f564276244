import { TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import type { TimeRange } from '../../storage/calls/call-store.js';
import { DAY_MS, windowEnd, windowStart } from '../../storage/calls/periods.js';
import { localDayStart, localHourStart, nextLocalDay, nextLocalHour, type TimeZone } from './time-zone.js';

/** Length of the steps of a series, by the calendar. */
export type Interval = 'hour' | 'day' | 'month';

/** The range that is asked for, milliseconds since the epoch. */
export interface WantedRange {
  readonly interval: Interval;
  /** Default: as many steps before `to` as the default range has. */
  readonly from?: number | undefined;
  /** Default: now. */
  readonly to?: number | undefined;
  /** By whose clocks hours and days begin; months begin in UTC. Default: UTC. */
  readonly zone?: TimeZone | undefined;
}

/** Whole steps. */
export interface TimeSteps extends TimeRange {
  readonly interval: Interval;
  /** Starts of all steps, in order; at least one. */
  readonly starts: readonly number[];
  /** Where hours and days are those of a zone. */
  readonly zone?: TimeZone;
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
export function timeSteps({ interval, from, to, zone }: WantedRange, now: number): TimeSteps {
  const { startOf, nextOf } = calendarOf(interval, zone);
  const end = to ?? now;
  const begin = from ?? Math.max(end - DEFAULT_MS[interval], 0);
  requireOrder(begin, end);
  const starts: number[] = [];
  let start = startOf(begin);
  while (start < end) {
    if (starts.length === MAX_STEPS) throw fault('/interval', tooMany(interval));
    starts.push(start);
    start = nextOf(start);
  }
  return { interval, starts, from: startOf(begin), to: start, ...defined({ zone }) };
}

/**
 * Nothing lies in a range that ends before it begins: whoever asks for one has mixed up its times.
 * @throws TollhouseError `validation_failed`
 */
export function requireOrder(from: number, to: number): void {
  if (from >= to) throw fault('/from', 'must be before "to"');
}

function calendarOf(interval: Interval, zone: TimeZone | undefined) {
  if (zone === undefined || interval === 'month') {
    const startOf = (at: number) => windowStart(interval, at);
    return { startOf, nextOf: (at: number) => windowEnd(interval, at) };
  }
  if (interval === 'day') {
    return { startOf: (at: number) => localDayStart(zone, at), nextOf: (at: number) => nextLocalDay(zone, at) };
  }
  return { startOf: (at: number) => localHourStart(zone, at), nextOf: (at: number) => nextLocalHour(zone, at) };
}

/** Steps that follow each other and are as long as each other. */
export interface EvenSteps extends TimeRange {
  readonly stepMs: number;
}

/** Steps as few stretches of even ones: of days of a zone, those between two changes of its clocks are. */
export function evenSteps({ starts, to }: Pick<TimeSteps, 'starts' | 'to'>): readonly EvenSteps[] {
  const runs: { from: number; to: number; stepMs: number }[] = [];
  for (const [at, start] of starts.entries()) {
    const end = starts[at + 1] ?? to;
    const last = runs.at(-1);
    if (last?.stepMs === end - start) last.to = end;
    else runs.push({ from: start, to: end, stepMs: end - start });
  }
  return runs;
}

function tooMany(interval: Interval): string {
  const longer = interval === 'hour' ? 'ask for interval=day, or ' : '';
  return `makes more than ${MAX_STEPS} steps of this range; ${longer}bring "from" and "to" closer together`;
}

function fault(pointer: string, detail: string): TollhouseError {
  const errors = [{ pointer, code: 'custom', detail }];
  return new TollhouseError('validation_failed', `The request is not valid. ${pointer}: ${detail}.`, { errors });
}
