import { DAY_MS, HOUR_MS, quarterOf } from '../../storage/calls/periods.js';

/** A time zone, as figures need it. */
export interface TimeZone {
  /** As it was asked for, such as `Europe/Berlin`. */
  readonly name: string;
  /** How far its clocks are ahead of UTC at a time, in milliseconds. */
  offsetAt(at: number): number;
}

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;
const MINUTE_MS = 60_000;

/** A time zone by its name in the IANA database (RFC 6557), in whatever case; undefined when there is none of this name. */
export function findTimeZone(name: string): TimeZone | undefined {
  const format = formatIn(name);
  if (format === undefined) return undefined;
  return { name, offsetAt: (at) => offsetIn(format.format(at)) };
}

function formatIn(timeZone: string): Intl.DateTimeFormat | undefined {
  // Later versions of Node.js take offsets for names as well, which know nothing of summer time.
  if (!/^[a-z]/i.test(timeZone)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch {
    return undefined;
  }
}

/** Of `3/29/2026, GMT+01:00`. */
function offsetIn(text: string): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = OFFSET.exec(text) ?? [];
  const size = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * 1_000;
  return sign === '-' ? -size : size;
}

/**
 * Start of the day of a zone that a time lies in: the first moment that has its date, which is midnight where there is one. To the
 * quarter of an hour, as all sums are. All times here are milliseconds since the epoch.
 */
export function localDayStart(zone: TimeZone, at: number): number {
  return startOfDate(zone, dateOf(zone, at));
}

/** Start of the next day of a zone that begins after a time; dates that were left out are none. */
export function nextLocalDay(zone: TimeZone, at: number): number {
  const date = dateOf(zone, at);
  const next = startOfDate(zone, date + 1);
  return next > at ? next : startOfDate(zone, date + 2);
}

/** Start of the hour of a zone's clocks that a time lies in: the full hour, or when the clocks were changed since. */
export function localHourStart(zone: TimeZone, at: number): number {
  const start = at - inHour(zone, at);
  return zone.offsetAt(start) === zone.offsetAt(at) ? start : changeBetween(zone, start, at);
}

/** The next full hour of a zone's clocks, or when they are changed before it. */
export function nextLocalHour(zone: TimeZone, at: number): number {
  const end = at + HOUR_MS - inHour(zone, at);
  return zone.offsetAt(end) === zone.offsetAt(at) ? end : changeBetween(zone, at, end);
}

/** A time as the clocks of a zone show it (RFC 3339): `2026-03-29T00:00:00+01:00`. */
export function localTimeText(zone: TimeZone, at: number): string {
  const offset = zone.offsetAt(at);
  const minutes = Math.abs(Math.trunc(offset / MINUTE_MS));
  const two = (part: number) => String(part).padStart(2, '0');
  const sign = offset < 0 ? '-' : '+';
  const clock = new Date(at + offset).toISOString().slice(0, '2026-03-29T00:00:00'.length);
  return `${clock}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** How much of its hour has passed by a zone's clocks. */
function inHour(zone: TimeZone, at: number): number {
  return (((at + zone.offsetAt(at)) % HOUR_MS) + HOUR_MS) % HOUR_MS;
}

/** Number of the date, from 1970-01-01. */
function dateOf(zone: TimeZone, at: number): number {
  return Math.floor((at + zone.offsetAt(at)) / DAY_MS);
}

/**
 * Start of a date of a zone.
 * @param date - days since 1970-01-01
 */
export function startOfDate(zone: TimeZone, date: number): number {
  const midnight = date * DAY_MS;
  const [before, after] = [midnight - DAY_MS, midnight + DAY_MS];
  const midnights = [zone.offsetAt(before), zone.offsetAt(after)]
    .map((offset) => ({ at: midnight - offset, offset }))
    .filter(({ at, offset }) => zone.offsetAt(at) === offset)
    .map(({ at }) => at);
  const [first = changeBetween(zone, before, after)] = midnights.sort((a, b) => a - b);
  return quarterOf(Math.max(first, 0));
}

/** When a zone's clocks were changed to what they show at the end, where they were once in between. */
function changeBetween(zone: TimeZone, from: number, to: number): number {
  const offset = zone.offsetAt(to);
  let [before, after] = [from, to];
  while (after - before > 1_000) {
    const middle = before + Math.floor((after - before) / 2_000) * 1_000;
    if (zone.offsetAt(middle) === offset) after = middle;
    else before = middle;
  }
  return quarterOf(after);
}
