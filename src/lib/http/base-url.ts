import { z } from 'zod';

const WANTED = 'an http(s) address without user, query or fragment';

/** Schema of an address under which a server is reached. */
export const baseUrlSchema = z.string(WANTED).refine(isBaseUrl, WANTED);

/** Whether paths can be put behind an address. */
export function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '');
}
