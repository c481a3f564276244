import type { BudgetWindow } from './call-store.js';

/** A quarter of an hour, in milliseconds: everywhere in the world hours and days begin at one of UTC's. */
export const QUARTER_MS = 900_000;

/** One hour, in milliseconds. */
export const HOUR_MS = 3_600_000;

/** One day of UTC, in milliseconds: it has no leap seconds and no summer time. */
export const DAY_MS = 24 * HOUR_MS;

/** Start of the quarter of an hour that a time lies in. All times here are milliseconds since the epoch. */
export function quarterOf(at: number): number {
  return at - (at % QUARTER_MS);
}

/** Start of the hour that a time lies in. */
export function hourOf(at: number): number {
  return at - (at % HOUR_MS);
}

/** Start of the day of UTC that a time lies in. */
export function dayOf(at: number): number {
  return at - (at % DAY_MS);
}

/** Start of the month of UTC that a time lies in. */
export function monthOf(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

const STARTS: Readonly<Record<BudgetWindow, (at: number) => number>> = {
  hour: hourOf,
  day: dayOf,
  month: monthOf,
  total: () => 0,
};

/** Start of the window of a budget that a time lies in; 0 where it never begins anew. */
export function windowStart(window: BudgetWindow, at: number): number {
  return STARTS[window](at);
}

/** When the window of a budget that a time lies in ends and the next one begins; infinity where it never does. */
export function windowEnd(window: BudgetWindow, at: number): number {
  if (window === 'total') return Number.POSITIVE_INFINITY;
  if (window === 'month') return Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth() + 1, 1);
  return windowStart(window, at) + (window === 'hour' ? HOUR_MS : DAY_MS);
}

/** Starts of the hour, the day and the month that a time lies in. */
export function startsOf(at: number) {
  return [hourOf(at), dayOf(at), monthOf(at)] as const;
}
