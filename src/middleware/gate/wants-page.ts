import type { Request } from 'express';

/**
 * Whether a client is a browser that shows a page, and no script of one, which says so (`Sec-Fetch-Dest`). Most clients name no text
 * and no preferences; then JSON, which we name first, is what they get.
 */
export function wantsPage(req: Request): boolean {
  const { accept } = req.headers;
  if (req.headers['sec-fetch-dest'] === 'empty') return false;
  return accept !== undefined && /html|text\/|;/i.test(accept) && req.accepts(['json', 'html']) === 'html';
}
