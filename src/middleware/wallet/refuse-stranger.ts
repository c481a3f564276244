import type { Request, Response } from 'express';
import type { ErrorCode } from '../../errors/errors.js';
import type { RefusedProof } from '../../identity/types.js';
import { CODECS } from '../../protocol/codecs/codecs.js';
import { newNonce } from '../../protocol/codecs/nonce-header.js';
import { type AskFirst, askFirstOf, type RefusalReason, type Refused } from '../gate/gate.js';
import { paymentOf } from '../gate/request-properties.js';
import { exposeHeaders, sendProblem, setHeaders } from '../gate/respond.js';
import { routeHandlers } from '../gate/route-handlers.js';
import { wantsPage } from '../gate/wants-page.js';
import { type CallerParts, callerUrl } from './caller-request.js';
import { sendSignInPage } from './sign-in-page.js';
import { offerSignIn, signInExtensions } from './wallet-auth.js';

/**
 * The refusal of a caller whose wallet is not proven, with a challenge that a client can answer. Programs that have shown nothing get it
 * as 402, since the official clients of x402 look at nothing else; browsers, and whoever has shown a proof that is no good, as 401.
 */
export function refuseStranger(
  where: string,
  req: Request,
  res: Response,
  parts: CallerParts,
  proof: RefusedProof | { readonly status: 'absent' },
): Refused {
  offerSignIn(req, parts);
  if (proof.status === 'refused') {
    const { code, detail } = proof;
    const answer = () => refuseProof(req, res, code, detail);
    return { admitted: false, wants: 'wallet', presented: true, isFaulty: true, answer };
  }
  // A token that is taken is good or refused.
  const isUnheeded = /^bearer /i.test(req.headers.authorization ?? '');
  if (isUnheeded) warnOfToken(where);
  if (paymentOf(req) !== undefined) warnOfOrder(where);
  const answer = () => {
    if (isUnheeded) return refuseProof(req, res, 'unauthenticated', NO_TOKENS);
    if (!wantsPage(req)) return askToSignIn(req, res, parts);
    return sendSignInPage(req, res, parts, { code: 'unauthenticated', headers: { 'WWW-Authenticate': CHALLENGE } });
  };
  return { admitted: false, wants: 'wallet', presented: false, answer };
}

async function refuseProof(req: Request, res: Response, code: ErrorCode, detail: string): Promise<void> {
  const more = { extensions: await signInExtensions(req) };
  const fault = TOKEN_FAULTS.has(code) ? `${BEARER}, error="invalid_token", ${SIGN_IN}` : CHALLENGE;
  sendProblem(res, code, detail, { more, headers: { 'WWW-Authenticate': fault } });
}

/** Answers 402. Where a gate behind this one asks for a payment, its terms are told as well, since clients take both from one response. */
async function askToSignIn(req: Request, res: Response, parts: CallerParts): Promise<void> {
  const extensions = await signInExtensions(req);
  res.setHeader('WWW-Authenticate', CHALLENGE);
  if (await asksBehind(req, res)) return;
  const { code, detail } = SIGN_IN_FIRST;
  const challenge = {
    resource: { url: callerUrl(req, parts) },
    terms: [],
    error: code,
    ...(extensions === undefined ? {} : { extensions }),
  };
  const nonce = newNonce();
  const said = CODECS.map((codec) => codec.challenge(challenge));
  for (const { headers } of said) setHeaders(res, headers?.(nonce) ?? {});
  exposeHeaders(
    res,
    CODECS.flatMap(({ exposedHeaders }) => exposedHeaders),
  );
  const more = Object.assign({ extensions }, ...said.map(({ body }) => body));
  sendProblem(res, code, detail, { more });
}

/** Has a payment gate answer that stands behind on the route, and that the request has not passed; false where there is none. */
async function asksBehind(req: Request, res: Response): Promise<boolean> {
  const askFirst = paymentOf(req) === undefined ? paymentGateOf(req) : undefined;
  if (askFirst === undefined) return false;
  try {
    await askFirst(req, res, SIGN_IN_FIRST);
    return true;
  } catch (error) {
    // Its price may be for those who have passed this gate, or its facilitator be out of reach: that is told to them.
    if (res.headersSent) throw error;
    return false;
  }
}

/** The payment gate among the handlers of the route that Express has found for a request. */
function paymentGateOf(req: Request): AskFirst | undefined {
  return routeHandlers(req)
    .map(askFirstOf)
    .find((it) => it !== undefined);
}

/** Faults of an access token, which RFC 6750 §3.1 has a name for. */
const TOKEN_FAULTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['invalid_access_token', 'token_expired']);
const BEARER = 'Bearer realm="tollhouse"';
const SIGN_IN = 'SIWX realm="tollhouse", header="SIGN-IN-WITH-X"';
const CHALLENGE = `${BEARER}, ${SIGN_IN}`;
const UNPROVEN =
  'Prove your wallet: sign the challenge in "extensions" and send it in the header SIGN-IN-WITH-X, or send an access token.';
const NO_TOKENS =
  'No access tokens are taken here. Prove your wallet: sign the challenge in "extensions" and send it in the header SIGN-IN-WITH-X.';
const SIGN_IN_FIRST: RefusalReason = { code: 'sign_in_required', detail: UNPROVEN };

let hasWarned = false;
let hasWarnedOfOrder = false;

/** Whoever issues tokens means them to be taken; the client is told no more than that they are not. */
function warnOfToken(where: string): void {
  if (hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    `${where}: a request came with an access token (Authorization: Bearer), and this gate takes none. If your createIdentity ` +
      `issues them, give it to the gate: ${where}({ facilitator, identity, … })`,
    { code: 'TOLLHOUSE_NO_IDENTITY' },
  );
}

/** Clients that sign in for the first 402 and pay it have been told nothing of a sign-in there. */
function warnOfOrder(where: string): void {
  if (hasWarnedOfOrder) return;
  hasWarnedOfOrder = true;
  process.emitWarning(
    `${where} stands behind a payment gate: clients are asked to pay before they are asked to sign in, and many give up then. ` +
      `Put it first: app.get(path, ${where}({ … }), requirePayment({ … }), handler)`,
    { code: 'TOLLHOUSE_GATE_ORDER' },
  );
}
