import { type Markup, markup } from '../layout/markup.js';
import { localeOf } from '../texts/locale.js';

/** A number as readers of a language write it. */
export function numberIn(language: string, value: number, style: 'decimal' | 'percent' = 'decimal'): string {
  return new Intl.NumberFormat(localeOf(language), {
    style,
    maximumFractionDigits: style === 'percent' ? 1 : 20,
  }).format(value);
}

/** A day as readers of a language write it. */
export function dayIn(language: string, at: Date): Markup {
  return timeIn(language, at, { dateStyle: 'long' });
}

/** A moment as readers of a language write it. */
export function momentIn(language: string, at: Date): Markup {
  return timeIn(language, at, { dateStyle: 'long', timeStyle: 'long' });
}

function timeIn(language: string, at: Date, style: Intl.DateTimeFormatOptions): Markup {
  const words = new Intl.DateTimeFormat(localeOf(language), { ...style, timeZone: 'UTC' }).format(at);
  return markup`<time datetime="${at.toISOString()}">${words}</time>`;
}
