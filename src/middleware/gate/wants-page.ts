import type { Request } from 'express';
import { PAYWALL_TYPE } from '../../pages/paywall/paywall-data.js';

/**
 * Whether a client is a browser that shows a page, and no script of one, which says so (`Sec-Fetch-Dest`), unless it is the script that
 * shows a paywall in a site's own page. Most clients name no text and no preferences; then JSON, which we name first, is what they get.
 */
export function wantsPage(req: Request): boolean {
  const { accept } = req.headers;
  if (wantsElement(req)) return true;
  // A service worker asks for a page on behalf of a navigation, and says so.
  if (req.headers['sec-fetch-dest'] === 'empty' && req.headers['sec-fetch-mode'] !== 'navigate') return false;
  return accept !== undefined && /html|text\/|;/i.test(accept) && req.accepts(['json', 'html']) === 'html';
}

/** Whether a client shows a paywall in a site's own page, and gets what ours would show as JSON. */
export function wantsElement({ headers }: Request): boolean {
  return headers.accept?.includes(PAYWALL_TYPE) === true;
}
