import type { Request, Response } from 'express';
import { ERRORS, type ErrorCode } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import type { ToldRefusal } from '../../pages/texts/refusals/lack.js';
import { networkFrom } from '../../protocol/networks/networks.js';
import { type PageSubject, sendPaywallPage, signInOf } from '../browser/paywall-response.js';
import { keepUncached } from '../gate/cache-control.js';
import { mustHoldOf } from '../gate/must-hold-notes.js';
import { noteProblemCode, setHeaders } from '../gate/respond.js';
import { type CallerParts, callerUrl } from './caller-request.js';
import { signInExtensions } from './wallet-auth.js';

/** Why a page is sent instead of what was asked for. */
export interface SignInCause {
  readonly code: ErrorCode;
  /** What a wallet lacks; missing where nobody has signed in yet. */
  readonly refusal?: ToldRefusal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a browser with a page that signs in with a wallet. */
export async function sendSignInPage(
  req: Request,
  res: Response,
  parts: CallerParts,
  { code, refusal: problem, headers = {} }: SignInCause,
): Promise<void> {
  const extensions = await signInExtensions(req);
  const network = networkFrom(signInOf(extensions)?.chainId ?? '') ?? 'solana';
  noteProblemCode(res, code);
  res.statusCode = ERRORS[code].status;
  keepUncached(res);
  setHeaders(res, headers);
  const challenge = { resource: { url: callerUrl(req, parts) }, terms: [], ...defined({ extensions }) };
  const subject: PageSubject = { challenge, network, tokens: [], page: parts.page };
  // What a wallet lacks is said with what it takes.
  const said = problem === undefined ? { mustHold: mustHoldOf(req) } : { problem };
  sendPaywallPage(req, res, { ...subject, ...said });
}
