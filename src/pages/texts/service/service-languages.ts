import { preferredLanguage, type TextsByLanguage } from '../languages.js';
import { SERVICE_DE } from './de.js';
import { SERVICE_EN } from './en.js';
import { SERVICE_ES } from './es.js';
import { SERVICE_FR } from './fr.js';
import { SERVICE_JA } from './ja.js';
import type { ServiceTexts } from './service-texts.js';
import { SERVICE_ZH } from './zh.js';

const OURS: ReadonlyMap<string, ServiceTexts> = new Map(
  [SERVICE_EN, SERVICE_DE, SERVICE_ES, SERVICE_FR, SERVICE_ZH, SERVICE_JA].map((texts) => [texts.language, texts]),
);

/** Finds the texts of the service's pages. */
export type ServiceTextsFor = (acceptLanguage: string | undefined) => ServiceTexts;

/**
 * Finds the texts of the service's pages in the language that a reader likes best among those that there are; English for who likes
 * none of them. The same texts are the same object each time.
 * @param own - the operator's own texts, by language, below `service`
 */
export function createServiceTexts(own: TextsByLanguage = {}): ServiceTextsFor {
  const languages = [...new Set([...OURS.keys(), ...Object.keys(own)])];
  const all = new Map(languages.map((language) => [language, textsOf(language, own[language])]));
  return (acceptLanguage) => all.get(preferredLanguage(acceptLanguage, languages) ?? SERVICE_EN.language) ?? SERVICE_EN;
}

function textsOf(language: string, own: unknown): ServiceTexts {
  return { ...(OURS.get(language) ?? SERVICE_EN), ...Object(Reflect.get(Object(own), 'service')), language };
}
