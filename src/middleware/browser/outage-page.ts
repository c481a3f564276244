import type { Request, Response } from 'express';
import { ERRORS } from '../../errors/errors.js';
import { showProblems } from '../gate/respond.js';
import { wantsPage } from '../gate/wants-page.js';
import { type PageSubject, sendPaywallPage } from './paywall-response.js';

/** What an outage page is about. */
export interface OutageSubject extends Pick<PageSubject, 'network' | 'page'> {
  /** Address that was asked for. */
  readonly url: () => string;
}

/** Has browsers shown a page where a gate cannot decide: the chain or a store is away, or no fees are paid in this hour. */
export function showOutages(req: Request, res: Response, { network, page, url }: OutageSubject): void {
  if (!wantsPage(req)) return;
  showProblems(res, (code) => {
    // Of a site without a name its readers learn that it is not set up yet, and its operator is warned of what is missing.
    if (ERRORS[code].status !== 503 && code !== 'not_configured') return false;
    const challenge = { resource: { url: url() }, terms: [] };
    sendPaywallPage(req, res, { challenge, network, tokens: [], page, outage: code });
    return true;
  });
}
