import type { NextFunction, Request, Response } from 'express';
import { TollhouseError } from '../errors.js';
import type { Claim, OpenedPayment } from '../facilitator/types.js';
import { resolveOptions } from '../options.js';
import { findTerms } from '../protocol/match-terms.js';
import type { NetworkId, Payment, SupportedKind } from '../protocol/types.js';
import { callHook } from './call-hook.js';
import { signInExtensions } from './caller.js';
import { isGone } from './delivered.js';
import { createGate, type Decision, type Gate, type Refused } from './gate.js';
import { keptAnswersOf } from './kept-answers.js';
import { listRoute } from './list-route.js';
import { openFirst } from './open-first.js';
import { EXPOSED_HEADERS, type OfferCause, type OpenOffer, refusalCause, sendOffer, UNPAID } from './payment-offer.js';
import { type RequirePaymentOptions, type ResolvedPaymentOptions, requirePaymentOptions } from './payment-options.js';
import { type TermsFor, termsOf } from './payment-terms.js';
import { type PresentedPayment, readPayment } from './read-payment.js';
import { exposeHeaders, sendProblem } from './respond.js';
import { type PaidRequest, sendPending, serveAfterHandler, serveBeforeHandler } from './serve-paid.js';
import './request-types.js';

const WHERE = 'requirePayment';
/** How old the facilitator's view of its own health is at most. */
const RETRY_SECONDS = 5;

interface PaymentGate {
  readonly options: ResolvedPaymentOptions;
  readonly termsFor: TermsFor;
  /** Serves a request whose payment is held. */
  serve(paid: PaidRequest): Promise<void>;
}

/**
 * Express middleware that asks for a payment before a route answers. An unpaid request gets a 402 that x402 clients of
 * both versions understand; a paid one reaches the handler, with {@link RequestPayment} on `req.payment`. One payment is
 * good for one answer on one method and path. Works on Express 4.21 and 5, on a route, a Router or an app.
 * @throws TollhouseError `bad_option` now, not at the first request, when an option is wrong
 */
export function requirePayment(options: RequirePaymentOptions): Gate {
  const resolved = listRoute(resolveOptions(WHERE, requirePaymentOptions, options));
  const kept = keptAnswersOf(resolved.facilitator);
  const serve =
    resolved.settle === 'before' ? serveBeforeHandler : (paid: PaidRequest) => serveAfterHandler(paid, kept);
  const gate: PaymentGate = { options: resolved, termsFor: termsOf(resolved), serve };
  return createGate((req, res) => decide(gate, req, res));
}

async function decide(gate: PaymentGate, req: Request, res: Response): Promise<Decision> {
  exposeHeaders(res, EXPOSED_HEADERS);
  const presented = readPayment(req);
  const reading = presented?.reading;
  if (reading?.ok === false && reading.code === 'invalid_payment_header') {
    return refused(true, () => sendProblem(res, reading.code, reading.detail));
  }
  const payment = reading?.ok ? reading.payment : undefined;
  const open = await openOffer(gate, req, payment);
  const offer = async (cause: OfferCause) =>
    sendOffer(req, res, gate.options, { ...open, extensions: await signInExtensions(req) }, cause);
  if (presented === undefined || reading === undefined) return refused(false, () => offer(UNPAID));
  if (!reading.ok) return refused(true, () => offer({ ...NO_MATCH, detail: reading.detail }));
  const opened = await openFirst(gate.options, req, reading.payment, findTerms(reading.payment, open.terms));
  return decisionOn(gate, { req, res, presented, open, opened, offer });
}

function refused(presented: boolean, answer: Refused['answer']): Refused {
  return { admitted: false, wants: 'payment', presented, answer };
}

async function openOffer(gate: PaymentGate, req: Request, payment: Payment | undefined): Promise<OpenOffer> {
  const { facilitator } = gate.options;
  const { kinds, signers } = await facilitator.supported();
  const offered = kinds.find((it) => it.scheme === 'exact' && it.network === facilitator.network);
  const kind = offered ?? (payment === undefined ? undefined : earlierKind(facilitator.network, signers));
  if (kind === undefined) {
    const detail = `Payments on ${facilitator.network} cannot be taken at the moment.`;
    throw new TollhouseError('payment_backend_unavailable', detail, { retryAfterSeconds: RETRY_SECONDS });
  }
  const terms = await gate.termsFor(req, payment === undefined ? kind : kindFor(kind, payment, signers));
  return kind.hint === undefined ? { terms } : { terms, hint: kind.hint };
}

/** What was offered while settling was possible: who has paid then is told what became of it, whatever is wrong now. */
function earlierKind(network: NetworkId, [feePayer]: readonly string[]): SupportedKind | undefined {
  return feePayer === undefined ? undefined : { scheme: 'exact', network, feePayer };
}

/** With several fee payers, a payment that names another one than is offered now was offered that one before. */
function kindFor(kind: SupportedKind, payment: Payment, signers: readonly string[]): SupportedKind {
  const named = payment.accepted?.feePayer;
  return named !== undefined && signers.includes(named) ? { ...kind, feePayer: named } : kind;
}

interface Attempt {
  readonly req: Request;
  readonly res: Response;
  readonly presented: PresentedPayment;
  readonly open: OpenOffer;
  readonly opened: OpenedPayment | undefined;
  /** Answers 402, with a way to sign in where that would help as well. */
  offer(cause: OfferCause): Promise<void>;
}

const NO_MATCH: OfferCause = {
  code: 'no_matching_requirements',
  detail: 'The payment is for other terms than this resource offers; the offered ones are in this answer.',
};

const USED: OfferCause = {
  code: 'payment_already_used',
  detail: 'This payment was used before. To get an answer again, pay again.',
};

const IN_PROGRESS = 'Another request is being served for this payment.';

function decisionOn(gate: PaymentGate, attempt: Attempt): Decision {
  const { req, res, presented, opened, offer } = attempt;
  const { facilitator, onFailed } = gate.options;
  switch (opened?.status) {
    case undefined:
      return refused(true, () => offer(NO_MATCH));
    case 'refused': {
      const { refusal } = opened;
      callHook('onFailed', onFailed, { req, refusal });
      return refused(true, () => offer({ ...refusalCause(refusal), settlement: { status: 'failed', ...refusal } }));
    }
    case 'in_progress':
      return refused(true, () => sendProblem(res, 'payment_in_progress', IN_PROGRESS, { retryAfterSeconds: 1 }));
    case 'used': {
      const { receipt } = opened;
      const settlement = receipt === undefined ? {} : { settlement: { status: 'settled', receipt } as const };
      return refused(true, () => offer({ ...USED, ...settlement }));
    }
    case 'pending': {
      const receipt = presented.door.receipt(opened.settlement, facilitator.network);
      return refused(true, () => sendPending(res, receipt));
    }
    case 'open': {
      const { claim } = opened;
      return { admitted: true, enter: (next) => enter(gate, attempt, claim, next) };
    }
  }
}

async function enter(gate: PaymentGate, attempt: Attempt, claim: Claim, next: NextFunction): Promise<void> {
  const { req, res, presented, open } = attempt;
  const { options } = gate;
  if (isGone(res)) return claim.release();
  req.payment = { payer: claim.payer, terms: claim.terms, receipt: claim.receipt };
  callHook('onVerified', options.onVerified, { req, payer: claim.payer, terms: claim.terms });
  const offer = (cause: OfferCause) => sendOffer(req, res, options, open, cause);
  return gate.serve({ req, res, next, options, door: presented.door, claim, offer });
}
