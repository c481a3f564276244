import { textsFor } from '../../../src/pages/texts/languages.js';
import { createServiceTexts } from '../../../src/pages/texts/service/service-languages.js';

const serviceTexts = createServiceTexts();

/** Everything that pages say in a language, with the names of what is said. */
function said(language: string): ReadonlyMap<string, string> {
  return new Map([...entries(textsFor(language)), ...entries(serviceTexts(language), 'service.')]);
}

function entries(texts: object, prefix = ''): readonly (readonly [string, string])[] {
  return Object.entries(texts).flatMap(([name, it]) =>
    typeof it === 'string' ? [[prefix + name, it] as const] : entries(Object(it), `${prefix}${name}.`),
  );
}

test.each([
  [
    'German, in which a wallet is feminine',
    'de',
    /\b(?:das|dem|ein|einem|jedes|Ihr|Ihrem|kein|dieses)\s(?:[\wäöü]+-)?Wallet\b/i,
  ],
  ['Spanish, which calls a wallet cartera', 'es', /billetera|monedero|wallet(?!\})/i],
  ['Spanish, which says usted to its reader', 'es', /\b(?:tu|tus|has|entra|permítel[ao]s|inténtalo|pagas|puedes)\b/i],
  ['French, whose double signs begin no line', 'fr', / [;:?!»]|« /],
  ['French, which calls a wallet portefeuille', 'fr', /\bwallet\b(?!\})/i],
])('no text slips out of %s', (_what, language, slip) => {
  const slipped = [...said(language)].filter(([, text]) => slip.test(text));
  expect(slipped).toEqual([]);
});

/** Of a reason without words of its own, English has those of the problem, and the others its code. */
const APART = ['reasons.other', 'reasons.paidBefore'];

test.each(['de', 'es', 'fr', 'zh', 'ja'])('a text in %s leaves open what the English one does', (language) => {
  const placesOf = (text = '') => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();
  const places = (texts: ReadonlyMap<string, string>) =>
    [...texts].filter(([name]) => !APART.includes(name)).map(([name, text]) => [name, placesOf(text)]);
  expect(Object.fromEntries(places(said(language)))).toEqual(Object.fromEntries(places(said('en'))));
});
