import { DE } from './de.js';
import { EN } from './en.js';
import { ES } from './es.js';
import { FR } from './fr.js';
import { JA } from './ja.js';
import type { PageTexts } from './page-texts.js';
import { ZH } from './zh.js';

/** What is known of each language, by its name as in BCP 47. */
export type TextsByLanguage = Readonly<Record<string, unknown>>;

const OURS: ReadonlyMap<string, PageTexts> = new Map([EN, DE, ES, FR, ZH, JA].map((texts) => [texts.language, texts]));
const MAX_HEADER_LENGTH = 500;

/**
 * The texts of a page in the language that its reader likes best among those that there are; English for who likes none of them.
 * @param acceptLanguage - the header of the request
 * @param own - a seller's own texts, by language
 */
export function textsFor(acceptLanguage: string | undefined, own: TextsByLanguage = {}): PageTexts {
  const language = preferredLanguage(acceptLanguage, [...OURS.keys(), ...Object.keys(own)]) ?? EN.language;
  const base = OURS.get(language) ?? { ...EN, language };
  const { state, refusals, reasons, ...texts } = Object(own[language]);
  return {
    ...base,
    ...texts,
    refusals: { ...base.refusals, ...refusals },
    reasons: { ...base.reasons, ...reasons },
    state: { ...base.state, ...state },
  };
}

/** The one of some languages that a reader likes best; undefined for who likes none of them. */
export function preferredLanguage(header: string | undefined, languages: readonly string[]): string | undefined {
  const names = new Map(languages.map((name) => [name.toLowerCase(), name]));
  for (const tag of ranked(header)) {
    const found = names.get(tag) ?? names.get(tag.split('-')[0] ?? '');
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The languages of the header, the one that is liked best first. */
function ranked(header = ''): readonly string[] {
  return header
    .slice(0, MAX_HEADER_LENGTH)
    .toLowerCase()
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((it) => it.trim());
      const weight = parameters.find((it) => it.startsWith('q='));
      return { tag, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    })
    .filter(({ tag, weight }) => tag !== '' && weight > 0)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag);
}
