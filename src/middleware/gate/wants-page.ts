import type { Request } from 'express';

/**
 * Whether a client is a browser that shows a page. Most clients name no text and no preferences; then JSON, which we name first, is
 * what they get.
 */
export function wantsPage(req: Request): boolean {
  const { accept } = req.headers;
  return accept !== undefined && /html|text\/|;/i.test(accept) && req.accepts(['json', 'html']) === 'html';
}
