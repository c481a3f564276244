import type { Request, Response } from 'express';
import { ERRORS, type ErrorCode } from '../../errors/errors.js';
import { keepUncached } from '../gate/cache-control.js';
import { absoluteUrl } from '../gate/request-url.js';
import { noteProblemCode, type ProblemExtras, sendProblem, setHeaders } from '../gate/respond.js';
import { wantsPage } from '../gate/wants-page.js';
import { describeRoute } from '../terms/list-route.js';
import type { ResolvedPaymentOptions } from '../terms/payment-options.js';
import { sendPaywallPage } from './paywall-response.js';

/** A payment whose outcome is not known yet. */
export interface Undecided extends Pick<ProblemExtras, 'headers'> {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly retryAfterSeconds: number;
}

/** Answers that the same payment is to be brought again: programs with a problem, browsers with a page that does it. */
export function sendUndecided(
  req: Request,
  res: Response,
  options: ResolvedPaymentOptions,
  { code, detail, headers = {}, retryAfterSeconds }: Undecided,
): void {
  if (!wantsPage(req)) return sendProblem(res, code, detail, { headers, retryAfterSeconds });
  const { network, tokens } = options.facilitator;
  noteProblemCode(res, code);
  res.statusCode = ERRORS[code].status;
  keepUncached(res);
  setHeaders(res, { ...headers, 'Retry-After': String(retryAfterSeconds) });
  const resource = { url: absoluteUrl(req, options.baseUrl), ...describeRoute(options) };
  sendPaywallPage(req, res, {
    ...{ network, tokens, page: options.page, isWaiting: true },
    challenge: { resource, terms: [] },
  });
}
