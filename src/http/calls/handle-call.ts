import type { Request, Response } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import { PROOF_STAYS_GOOD } from '../../facilitator/backend/chain-landing.js';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { ProofUse } from '../../facilitator/proofs/landed-proof.js';
import type { Claim } from '../../facilitator/types.js';
import type { Gateway } from '../../gateway/gateway.js';
import { demandOf } from '../../gateway/projects/project-demand.js';
import { forwardRefusal } from '../../gateway/proxy/upstream-proxy.js';
import { requireScopes } from '../../identity/service-keys/scopes.js';
import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import { newId } from '../../lib/ids.js';
import type { Decision } from '../../middleware/gate/gate.js';
import { requestTarget } from '../../middleware/gate/request-url.js';
import { problemCodeOf, sendProblem } from '../../middleware/gate/respond.js';
import {
  isBodyLonger,
  MAX_COMPARED_BYTES,
  paymentFingerprint,
} from '../../middleware/idempotency/request-fingerprint.js';
import { offeredTerms } from '../../middleware/payment/offered-terms.js';
import { decidePayment, decisionOn, refused } from '../../middleware/payment/paid-request.js';
import type { PaymentGate } from '../../middleware/payment/payment-gate.js';
import { type RequiredCause, readPayment, sendPaymentRequired } from '../../middleware/payment/payment-required.js';
import { readServiceKey } from '../../middleware/service-key/read-service-key.js';
import { readServicePayment, SERVICE_PAYMENT_HEADER } from '../../protocol/wire/service-payment.js';
import type { Charge } from '../../storage/calls/call-store.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { type Call, callMemo, callResource, callRetry, noteCall } from './call.js';
import type { CallGates } from './call-gate.js';

/** What {@link handleCall} works with. */
export interface CallParts {
  readonly facilitator: EmbeddedFacilitator;
  readonly gateway: Gateway;
  /** The prices before the projects. */
  readonly gates: CallGates;
}

const NOT_CONFIRMED_RETRY_SECONDS = 2;
const PAUSED_RETRY_SECONDS = 60;
/** A proof settled before it was brought: there is nothing to tell. */
const PROOF_CODEC = { receipt: () => ({}) };

const NO_KEY = 'Send a service key: X-Service-Key and X-Service-Secret.';
const OTHER_PROJECT = 'The service key is for another project.';
const PAUSED = 'Its owner has paused this project; this request charged nothing.';
const UNKNOWN_LENGTH =
  'The body is larger than this address accepts, or has more than 1 MiB and does not say how long it is: send Content-Length.';
const NOT_CONFIRMED = {
  code: 'payment_not_confirmed',
  detail: 'The payment is not confirmed on the chain yet; send the same request again in two seconds.',
} as const;

/**
 * A paid call of a project's upstream. The order is project, key, limits, the price for whoever has not paid, what can be
 * passed on at all, budget, payment, upstream.
 */
export async function handleCall(calls: CallParts, req: Request, res: Response, slug: string): Promise<void> {
  const { gateway } = calls;
  const project = await gateway.projects.bySlug(slug);
  if (project === undefined) throw new TollhouseError('project_not_found', 'There is no project with this slug.');
  const at = gateway.now();
  try {
    if (project.state !== 'active') {
      const detail = req.get(SERVICE_PAYMENT_HEADER) === undefined ? PAUSED : `${PAUSED} ${PROOF_STAYS_GOOD}`;
      throw new TollhouseError('project_paused', detail, { retryAfterSeconds: PAUSED_RETRY_SECONDS });
    }
    const call = newCall(req, project, await keyFor(calls, req, res, project), at);
    const leave = await gateway.limits.enter(project);
    try {
      await payAndServe(calls, req, res, call);
    } finally {
      leave();
    }
  } catch (error) {
    if (error instanceof TollhouseError) gateway.book.refuse({ projectId: project.id, at, reason: error.code });
    throw error;
  }
}

async function keyFor(
  { gateway }: CallParts,
  req: Request,
  res: Response,
  project: ProjectRecord,
): Promise<ServiceKey> {
  const key = await readServiceKey(req, res, gateway.keys);
  if (key === undefined) throw new TollhouseError('unauthenticated', NO_KEY);
  requireScopes(key.scopes, ['call']);
  if (key.projectId === undefined || key.projectId === project.id) return key;
  throw new TollhouseError('insufficient_scope', OTHER_PROJECT);
}

function newCall(req: Request, project: ProjectRecord, key: ServiceKey, at: number): Call {
  const publicPath = req.baseUrl;
  const rest = requestTarget(req).slice(publicPath.length);
  return { id: newId('call'), project, key, at, method: req.method, publicPath, rest, isBooked: false };
}

async function payAndServe(calls: CallParts, req: Request, res: Response, call: Call): Promise<void> {
  const { gateway, gates } = calls;
  const gate = gates(call.project);
  noteCall(req, call);
  const proof = req.get(SERVICE_PAYMENT_HEADER);
  const isPaid = proof !== undefined || readPayment(req) !== undefined;
  if (isPaid) await refuseUnfit(req, call);
  try {
    if (isPaid && proof === undefined) call.reservationId = await reserve(gateway, call, priceOf(call));
    const decision =
      proof === undefined
        ? await decidePayment(gate, req, res)
        : await decideProof(calls, gate, { req, res, call, proof });
    if (decision.admitted) await decision.enter(noHandler);
    else await decision.answer();
    const reason = problemCodeOf(res);
    if (reason !== undefined && !call.isBooked)
      gateway.book.refuse({ projectId: call.project.id, at: call.at, reason });
  } finally {
    if (!call.isBooked) await gateway.spending.giveBack(call.reservationId);
  }
}

/** What cannot be passed on costs nothing. Whoever brings no payment is told the price first, whatever else is wrong. */
async function refuseUnfit(req: Request, { project, rest }: Call): Promise<void> {
  const { upstream, limits } = project;
  const refusal = forwardRefusal(req, { url: upstream.url, rest, ...limits });
  if (refusal !== undefined) throw refusal;
  if (req.get('content-length') !== undefined) return;
  if (await isBodyLonger(req, Math.min(limits.maxBodyBytes, MAX_COMPARED_BYTES))) {
    throw new TollhouseError('body_too_large', UNKNOWN_LENGTH);
  }
}

function reserve({ spending }: Gateway, { key, at }: Call, charge: Charge): Promise<string | undefined> {
  return spending.hold({ key, charge, at });
}

function priceOf({ project: { price } }: Call): Charge {
  return { mint: price.token.mint, amount: price.amount };
}

/**
 * A request is paid at the price that it was made at, which may be another one than today's, and in another token: that is
 * what the budget is asked for, so not before the payment is read. Where it has no room the payment stays good.
 */
async function reserveAsPaid({ gateway }: CallParts, call: Call, { terms, keep }: Claim): Promise<void> {
  try {
    call.reservationId = await reserve(gateway, call, { mint: terms.asset, amount: terms.amount });
  } catch (error) {
    await keep();
    throw error;
  }
}

/** What a paid request goes on to is the upstream, and no handler of Express. */
function noHandler(): void {}

interface ProofAttempt {
  readonly req: Request;
  readonly res: Response;
  readonly call: Call;
  readonly proof: string;
}

/** `X-Service-Payment`: a payment that has landed. */
async function decideProof(calls: CallParts, gate: PaymentGate, attempt: ProofAttempt): Promise<Decision> {
  const { req, res, call, proof } = attempt;
  const signature = readServicePayment(proof);
  if (!signature.ok) return refused(true, () => sendProblem(res, 'invalid_payment_header', signature.detail));
  const offered = await offeredTerms(gate, req);
  const challenge = async (cause: RequiredCause) => sendPaymentRequired(req, res, gate.options, offered, cause);
  const fingerprint = await paymentFingerprint(req);
  if (fingerprint === undefined) return refused(true, () => undefined);
  const retry = callRetry(call, req);
  const use = { ...proofUse(calls.gateway, call), fingerprint, retryHash: retry.hash };
  const opened = await calls.facilitator.openProof(signature.value, use);
  if (opened.status === 'open') await reserveAsPaid(calls, call, opened.claim);
  if (opened.status !== 'not_confirmed') {
    return decisionOn({ req, res, gate, codec: PROOF_CODEC, offered, opened, retry, challenge });
  }
  return refused(true, () => {
    res.setHeader('Retry-After', String(NOT_CONFIRMED_RETRY_SECONDS));
    return challenge(NOT_CONFIRMED);
  });
}

function proofUse({ splitWallet }: Gateway, call: Call): ProofUse {
  const { project, key } = call;
  const { token, amount } = project.price;
  return {
    resource: callResource(call),
    projectId: project.id,
    owner: project.owner,
    keyId: key.id,
    wallet: key.owner,
    memo: callMemo(project, key.id),
    price: { token, amount, legs: demandOf(project, splitWallet).legs },
  };
}
