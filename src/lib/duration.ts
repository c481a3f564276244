import { type Parsed, parsed, shown, unparsed } from './parsed.js';

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a length of time: a whole number and a unit, `90s`, `30m`, `24h`, `7d`. Returns milliseconds. */
export function readDuration(text: string): Parsed<number> {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(digits) * (UNITS[unit] ?? 0);
  return ms > 0 ? parsed(ms) : unparsed(`a length of time such as "24h" or "30m", not ${shown(text)}`);
}
