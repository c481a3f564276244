import { z } from 'zod';

const WANTED = 'an http(s) address without user, query or fragment';

/** Schema of an address under which a server is reached. */
export const baseUrlSchema = z.string(WANTED).refine(isBaseUrl, WANTED);

/** What can be written before a path as it stands: new URL() also reads an empty query, blanks around and a backslash for a slash. */
const FORM = /^https?:\/\/[^\s\p{Cc}/?#\\@]+(?:\/[^\s\p{Cc}?#\\]*)?$/iu;

/** Whether paths can be put behind an address. */
export function isBaseUrl(text: string): boolean {
  return FORM.test(text) && URL.canParse(text);
}
