import { type Markup, markup } from '../layout/markup.js';

/** A text with words in the place of their names in braces. */
export function filledWith(text: string, words: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => words[name] ?? whole);
}

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

/** An operator may have named a language that nobody knows. */
function localeOf(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? 'en';
  } catch {
    return 'en';
  }
}
