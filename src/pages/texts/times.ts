import { localeOf } from './locale.js';

const DAY_MS = 86_400_000;
/** A single day is said in hours: it does not end at midnight. */
const LEAST_DAYS = 2;
const UNITS = [
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

type Unit = 'day' | 'hour' | 'minute' | 'second';

/** A length of time as readers of a language say it: `24 hours`, `30 days`. */
export function timeInWords(ms: number, language: string): string {
  const [unit, unitMs] =
    ms % DAY_MS === 0 && ms >= LEAST_DAYS * DAY_MS
      ? (['day', DAY_MS] as const)
      : (UNITS.find(([, it]) => ms % it === 0) ?? (['second', 1_000] as const));
  return inUnit(Math.floor(ms / unitMs), unit, language);
}

/** How long somebody waits, never less than it is: `5 minutes`, `23 hours, 15 minutes`, `3 days, 4 hours`. */
export function waitInWords(ms: number, language: string): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  const hours = Math.floor(minutes / 60);
  if (hours >= LEAST_DAYS * 24) {
    const all = minutes % 60 === 0 ? hours : hours + 1;
    return together([Math.floor(all / 24), 'day'], [all % 24, 'hour'], language);
  }
  return together([hours, 'hour'], [minutes % 60, 'minute'], language);
}

type Part = readonly [count: number, unit: Unit];

function together(one: Part, other: Part, language: string): string {
  const words = [one, other].filter(([count]) => count > 0).map(([count, unit]) => inUnit(count, unit, language));
  return new Intl.ListFormat(localeOf(language), { type: 'unit' }).format(words);
}

function inUnit(count: number, unit: Unit, language: string): string {
  const options = { style: 'unit', unit, unitDisplay: 'long', useGrouping: false } as const;
  return new Intl.NumberFormat(localeOf(language), options).format(count);
}
