/** What a server may do to a letter with a mark: drop the mark, or take those that are letters themselves (`dͤar`) for letters. */
export type Marks = 'dropped' | 'read';

const PLAIN = /^[\x20-\x7e]*$/;
/** Taken apart, a lone accent stands on a blank. */
const BLANK_BELOW = / (?=\p{M})/gu;
/** Accents, and what comparisons leave out. */
const UNSEEN = /[\p{M}\p{DI}\p{Cc}\p{Cf}]/gu;
const NOT_ASCII = /[^\0-\x7f]/gu;

/** Compares as databases do to which accents count as little as capitals; it knows letters that nothing takes apart (`ø`, `đ`, `٣`). */
const ALIKE = new Intl.Collator('en', { sensitivity: 'base' });
/** As they are sorted. */
const PLAIN_LETTERS = [...'0123456789abcdefghijklmnopqrstuvwxyz'];
/** What `ŀ` is taken apart to. */
const CATALAN_L = 'l\u00b7';
const LIGATURES: ReadonlyMap<string, string> = new Map([
  ['æ', 'ae'],
  ['œ', 'oe'],
]);

/** A path as servers compare it to which neither capitals count nor accents, nor what is not seen. */
export function foldedPath(path: string, marks: Marks): string {
  if (PLAIN.test(path)) return path.toLowerCase();
  const apart = path.normalize('NFKD').replace(BLANK_BELOW, '');
  // Before capitals, of which one mark has a letter (U+0345).
  const bare = marks === 'dropped' ? apart.replace(UNSEEN, '') : apart;
  return withoutCapitals(bare).replaceAll(CATALAN_L, 'l').replace(NOT_ASCII, plainLetter).replace(UNSEEN, '');
}

/** Some servers compare small letters and some capitals, to which others are equal (`ı`, `ſ`, `ß`). */
function withoutCapitals(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase();
}

/** Of letters that were met: comparing takes long, and a hostile path has many readings. */
const known = new Map<string, string>();
const MAX_KNOWN = 10_000;

function plainLetter(letter: string): string {
  const found = known.get(letter) ?? findPlain(letter);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(letter, found);
  return found;
}

/** The plain letter or digit that is the same but for accents; the letter itself where none is. */
function findPlain(letter: string): string {
  const ligature = LIGATURES.get(letter);
  if (ligature !== undefined) return ligature;
  if (ALIKE.compare(letter, '') === 0) return '';
  let [from, to] = [0, PLAIN_LETTERS.length];
  while (from < to) {
    const at = (from + to) >> 1;
    const plain = PLAIN_LETTERS[at] ?? '';
    const order = ALIKE.compare(letter, plain);
    if (order === 0) return plain;
    if (order < 0) to = at;
    else from = at + 1;
  }
  return letter;
}
