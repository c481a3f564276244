import type { Request, Response } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import { PROOF_STAYS_GOOD } from '../../facilitator/backend/chain-landing.js';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { Networks } from '../../facilitator/networks/networks.js';
import type { OpenedProof, ProofUse } from '../../facilitator/proofs/landed-proof.js';
import { type Call, callMemo, callResource, newCall, requireCallKey } from '../../gateway/calls/call.js';
import { requireKeyMode } from '../../gateway/calls/key-mode.js';
import type { Gateway } from '../../gateway/gateway.js';
import { type CallRoute, callRoute } from '../../gateway/prices/call-route.js';
import { singlePrices } from '../../gateway/prices/project-offers.js';
import { demandOf } from '../../gateway/projects/project-demand.js';
import { isVisibleTo } from '../../gateway/projects/visibility.js';
import { defined } from '../../lib/defined.js';
import { clientAddress } from '../../middleware/gate/client-address.js';
import type { Decision } from '../../middleware/gate/gate.js';
import { readPayment } from '../../middleware/gate/presented-payment.js';
import { requestTarget } from '../../middleware/gate/request-url.js';
import { problemCodeOf, sendProblem } from '../../middleware/gate/respond.js';
import { paymentFingerprint } from '../../middleware/idempotency/request-fingerprint.js';
import { creditFirst } from '../../middleware/payment/gate-hooks.js';
import { offeredTerms } from '../../middleware/payment/offered-terms.js';
import { decidePayment, decisionOn } from '../../middleware/payment/paid-request.js';
import { type RequiredCause, sendPaymentRequired } from '../../middleware/payment/payment-required.js';
import { refused } from '../../middleware/payment/payment-responses.js';
import { provenServiceKey, readServiceKey } from '../../middleware/service-key/read-service-key.js';
import { noteProject, observeGate } from '../../middleware/tracing/gate-request.js';
import { beginRequestSpan } from '../../middleware/tracing/request-span.js';
import { readServicePayment, SERVICE_PAYMENT_HEADER } from '../../protocol/wire/service-payment.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import type { TraceSpan } from '../../telemetry/trace.js';
import { projectLabel, UNKNOWN_PROJECT } from '../framework/project-label.js';
import { type CallGate, type CallGates, facilitatorOf } from './call-gate.js';
import { noteCall } from './call-request.js';
import { namedByKey, noteName } from './named-call.js';
import type { PaidElsewhere } from './paid-elsewhere.js';
import { noHandler } from './serve-for-payment.js';
import type { ServeFree } from './serve-free.js';
import { refuseUnfit } from './unfit-call.js';
import { refuseUnready } from './unready-upstream.js';

/** What {@link handleCall} works with. */
export interface CallParts {
  readonly networks: Networks<EmbeddedFacilitator>;
  /** Where a signature is known that the network of a project does not know. */
  readonly paidElsewhere: PaidElsewhere;
  readonly gateway: Gateway;
  /** The prices before the projects. */
  readonly gates: CallGates;
  /** Serves what costs nothing. */
  readonly serveFree: ServeFree;
  /** Has a browser without a key told what the project is and how a key is had. Default: it gets JSON. */
  readonly showKeyPage?: ((req: Request, res: Response, project: ProjectRecord) => void) | undefined;
  /** Path of the address under which clients come, which a proxy has taken off. */
  readonly basePath: string;
}

const NOT_CONFIRMED_RETRY_SECONDS = 2;
const PAUSED_RETRY_SECONDS = 60;
/** A proof settled before it was brought: there is nothing to tell. */
const PROOF_CODEC = { receipt: () => ({}) };

const PAUSED = 'Its owner has paused this project; this request charged nothing.';
const NOT_CONFIRMED = {
  code: 'payment_not_confirmed',
  detail:
    'The payment is not confirmed on the chain yet; send the same request again in two seconds. Of a payment on another network than that of the price it never will be.',
} as const;

/**
 * A paid call of a project's upstream. The order is project, key, credit, the price for whoever has not paid, what can be passed
 * on at all, budget, payment, the project's limits, upstream.
 */
export async function handleCall(parts: CallParts, req: Request, res: Response, slug: string): Promise<void> {
  observeGate(parts.gateway.observed, req, res);
  noteProject(res, UNKNOWN_PROJECT);
  const span = beginRequestSpan('tollhouse.call', req, res);
  if (span === undefined) return handle(parts, req, res, slug);
  return span.within(() => handle(parts, req, res, slug, span));
}

async function handle(parts: CallParts, req: Request, res: Response, slug: string, span?: TraceSpan): Promise<void> {
  const { keys, calls, suspensions, now } = parts.gateway;
  const project = await findVisible(parts.gateway, req, slug);
  noteProject(res, projectLabel(project));
  span?.set({ 'tollhouse.project.id': project.id, 'tollhouse.project.slug': project.slug });
  const at = now();
  try {
    await suspensions.refuseProject(project);
    if (project.state !== 'active') {
      const detail = req.get(SERVICE_PAYMENT_HEADER) === undefined ? PAUSED : `${PAUSED} ${PROOF_STAYS_GOOD}`;
      throw new TollhouseError('project_paused', detail, { retryAfterSeconds: PAUSED_RETRY_SECONDS });
    }
    refuseUnready(parts.gateway, req, project);
    const shown = await readServiceKey(req, res, keys);
    if (shown === undefined) parts.showKeyPage?.(req, res, project);
    const key = requireCallKey(shown, project);
    requireKeyMode(key, project.price.network, parts.networks.mode);
    const publicPath = parts.basePath + req.baseUrl;
    const rest = requestTarget(req).slice(req.baseUrl.length);
    const { method, headers } = req;
    const route = callRoute(project, { method, rest, headers });
    const { route: name, rule } = route;
    const { client } = clientAddress(req);
    const call = newCall({ project: route.project, route: name, rule, key, client, at, method, publicPath, rest });
    noteCall(req, call);
    await serveOrAgain(parts, req, res, call, { project, route });
  } catch (error) {
    if (error instanceof TollhouseError) calls.refuse({ projectId: project.id, at, reason: error.code });
    throw error;
  }
}

/**
 * The project that a call means. A key is checked for a slug that is not there as well: from a private project it differs neither
 * in what is answered, nor in how long that takes, nor in what it counts for.
 */
async function findVisible({ projects, keys }: Gateway, req: Request, slug: string): Promise<ProjectRecord> {
  const project = await projects.bySlug(slug);
  if (project !== undefined && project.visibility !== 'private') return project;
  const key = await provenServiceKey(req, keys);
  if (project !== undefined && isVisibleTo(project, key)) return project;
  throw new TollhouseError('project_not_found', 'There is no project with this slug.');
}

/** What is known under the name of a call comes before all that could be taken for it. */
async function serveOrAgain(
  parts: CallParts,
  req: Request,
  res: Response,
  call: Call,
  { project, route }: { readonly project: ProjectRecord; readonly route: CallRoute },
): Promise<void> {
  const { isFree } = route;
  try {
    noteName(parts.gates(project, route), call, req, isFree);
    const named = await namedByKey(req);
    // A payment in a header is claimed before that: what it has bought is told with its response.
    const mayBeKnown = isFree || readPayment(req) === undefined;
    if (mayBeKnown && (await named?.answerKnown(res)) === true) return;
    if (await parts.serveFree({ req, res, call, project, isFree })) return;
    await payAndServe(parts, req, res, call, parts.gates(project, route));
  } finally {
    if (problemCodeOf(res) === 'settlement_pending') call.mayBePaid = true;
    await parts.gateway.calls.leave(call);
  }
}

async function payAndServe(parts: CallParts, req: Request, res: Response, call: Call, gate: CallGate): Promise<void> {
  const { calls } = parts.gateway;
  const proof = req.get(SERVICE_PAYMENT_HEADER);
  const isPaid = proof !== undefined || readPayment(req) !== undefined;
  if (isPaid) {
    // Whoever brings no payment is told the price first, whatever else is wrong.
    await refuseUnfit(req, call);
    calls.requireRoom(call.project, call.key.owner);
  }
  const decision =
    proof === undefined
      ? await decidePayment(gate, req, res)
      : await decideProof(parts, gate, { req, res, call, proof });
  if (decision.admitted) await decision.enter(noHandler);
  else await decision.answer();
  const reason = problemCodeOf(res);
  const asked = { projectId: call.project.id, at: call.at };
  if (reason === 'payment_required' && !isPaid) calls.challenge(asked);
  else if (reason !== undefined && !call.isBooked) calls.refuse({ ...asked, reason });
}

interface ProofAttempt {
  readonly req: Request;
  readonly res: Response;
  readonly call: Call;
  readonly proof: string;
}

/** `X-Service-Payment`: a payment that has landed. */
async function decideProof(
  parts: CallParts,
  gate: CallGate,
  { req, res, call, proof }: ProofAttempt,
): Promise<Decision> {
  const signature = readServicePayment(proof);
  if (!signature.ok) return refused(() => sendProblem(res, 'invalid_payment_header', signature.detail));
  const offered = await offeredTerms(gate, req);
  const challenge = (cause: RequiredCause) => sendPaymentRequired(req, res, gate.options, offered, cause);
  const fingerprint = await paymentFingerprint(req);
  if (fingerprint === undefined) return refused(() => undefined);
  const retry = gate.retryFor(req);
  const use = { fingerprint, retryHash: retry.hash, ...proofUse(parts.gateway, call), ...clientAddress(req) };
  const opened = await openProof(parts, call, signature.value, use);
  if (opened.status !== 'not_confirmed') {
    const attempt = { req, res, gate, codec: PROOF_CODEC, offered, opened, retry };
    return decisionOn({ ...attempt, challenge: creditFirst(gate, req, res, challenge) });
  }
  return refused(() => {
    res.setHeader('Retry-After', String(NOT_CONFIRMED_RETRY_SECONDS));
    return challenge(NOT_CONFIRMED);
  });
}

async function openProof(parts: CallParts, { project }: Call, signature: string, use: ProofUse): Promise<OpenedProof> {
  const opened = await facilitatorOf(parts.networks, project).openProof(signature, use);
  if (opened.status !== 'not_confirmed') return opened;
  const refusal = await parts.paidElsewhere(project.price.network, signature);
  return refusal === undefined ? opened : { status: 'refused', refusal };
}

function proofUse({ splitWalletOn }: Gateway, call: Call): ProofUse {
  const { project, route, key } = call;
  const splitWallet = splitWalletOn(project.price.network);
  const singles = singlePrices(project.price);
  const prices = singles.map(({ token, amount }) => ({
    token,
    amount,
    legs: demandOf(project, splitWallet, amount).legs,
  }));
  return {
    resource: callResource(call),
    projectId: project.id,
    owner: project.owner,
    keyId: key.id,
    wallet: key.owner,
    // Without single calls nobody can say by a transfer alone what it is to buy.
    ...(prices.length > 0 ? { memo: callMemo(project, key.id) } : {}),
    ...defined({ route }),
    prices,
  };
}
