import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { TollhouseError } from '../errors.js';
import type { OpenedPayment } from '../facilitator/types.js';
import { resolveOptions } from '../options.js';
import { findTerms } from '../protocol/match-terms.js';
import type { Payment, SupportedKind } from '../protocol/types.js';
import { callHook } from './call-hook.js';
import { isGone } from './delivered.js';
import { keptAnswersOf } from './kept-answers.js';
import { openFirst } from './open-first.js';
import { EXPOSED_HEADERS, type OfferCause, type OpenOffer, refusalCause, sendOffer, UNPAID } from './payment-offer.js';
import { type RequirePaymentOptions, type ResolvedPaymentOptions, requirePaymentOptions } from './payment-options.js';
import { type TermsFor, termsOf } from './payment-terms.js';
import { type PresentedPayment, readPayment } from './read-payment.js';
import { exposeHeaders, sendError, sendProblem } from './respond.js';
import { type PaidRequest, sendPending, serveAfterHandler, serveBeforeHandler } from './serve-paid.js';
import './request-types.js';

const WHERE = 'requirePayment';

interface Gate {
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
export function requirePayment(options: RequirePaymentOptions): RequestHandler {
  const resolved = resolveOptions(WHERE, requirePaymentOptions, options);
  const kept = keptAnswersOf(resolved.facilitator);
  const serve =
    resolved.settle === 'before' ? serveBeforeHandler : (paid: PaidRequest) => serveAfterHandler(paid, kept);
  const gate: Gate = { options: resolved, termsFor: termsOf(resolved), serve };
  return function tollhousePaymentGate(req, res, next) {
    // A CORS preflight carries no credentials and is never asked to pay.
    if (req.method === 'OPTIONS') return next();
    handle(gate, req, res, next).catch((error: unknown) => {
      if (error instanceof TollhouseError && error.code !== 'bad_option' && !res.headersSent) sendError(res, error);
      else next(error);
    });
  };
}

async function handle(gate: Gate, req: Request, res: Response, next: NextFunction): Promise<void> {
  exposeHeaders(res, EXPOSED_HEADERS);
  const presented = readPayment(req);
  const reading = presented?.reading;
  if (reading?.ok === false && reading.code === 'invalid_payment_header') {
    return sendProblem(res, reading.code, reading.detail);
  }
  const payment = reading?.ok ? reading.payment : undefined;
  const open = await openOffer(gate, req, payment);
  if (presented === undefined || reading === undefined) return sendOffer(req, res, gate.options, open, UNPAID);
  if (!reading.ok) return sendOffer(req, res, gate.options, open, { ...NO_MATCH, detail: reading.detail });
  const opened = await openFirst(gate.options, req, reading.payment, findTerms(reading.payment, open.terms));
  return answer(gate, { req, res, next, presented, open, opened });
}

async function openOffer(gate: Gate, req: Request, payment: Payment | undefined): Promise<OpenOffer> {
  const { facilitator } = gate.options;
  const { kinds, signers } = await facilitator.supported();
  const kind = kinds.find((it) => it.scheme === 'exact' && it.network === facilitator.network);
  if (kind === undefined) {
    const detail = `Payments on ${facilitator.network} cannot be taken at the moment.`;
    throw new TollhouseError('payment_backend_unavailable', detail);
  }
  const terms = await gate.termsFor(req, payment === undefined ? kind : kindFor(kind, payment, signers));
  return kind.hint === undefined ? { terms } : { terms, hint: kind.hint };
}

/** With several fee payers, a payment that names another one than is offered now was offered that one before. */
function kindFor(kind: SupportedKind, payment: Payment, signers: readonly string[]): SupportedKind {
  const named = payment.accepted?.feePayer;
  return named !== undefined && signers.includes(named) ? { ...kind, feePayer: named } : kind;
}

interface Decision {
  readonly req: Request;
  readonly res: Response;
  readonly next: NextFunction;
  readonly presented: PresentedPayment;
  readonly open: OpenOffer;
  readonly opened: OpenedPayment | undefined;
}

const NO_MATCH: OfferCause = {
  code: 'no_matching_requirements',
  detail: 'The payment is for other terms than this resource offers; the offered ones are in this answer.',
};

const USED: OfferCause = {
  code: 'payment_already_used',
  detail: 'This payment was used before. To get an answer again, pay again.',
};

async function answer(gate: Gate, decision: Decision): Promise<void> {
  const { req, res, next, presented, open, opened } = decision;
  const { options } = gate;
  const offer = (cause: OfferCause) => sendOffer(req, res, options, open, cause);
  const { door } = presented;
  switch (opened?.status) {
    case undefined:
      return offer(NO_MATCH);
    case 'refused':
      callHook('onFailed', options.onFailed, { req, refusal: opened.refusal });
      return offer({ ...refusalCause(opened.refusal), settlement: { status: 'failed', ...opened.refusal } });
    case 'in_progress':
      return sendProblem(res, 'payment_in_progress', 'Another request is being served for this payment.', {
        retryAfterSeconds: 1,
      });
    case 'used':
      return offer(
        opened.receipt === undefined ? USED : { ...USED, settlement: { status: 'settled', receipt: opened.receipt } },
      );
    case 'pending':
      return sendPending(res, door.receipt(opened.settlement, options.facilitator.network));
    case 'open': {
      const { claim } = opened;
      if (isGone(res)) return claim.release();
      req.payment = { payer: claim.payer, terms: claim.terms, receipt: claim.receipt };
      callHook('onVerified', options.onVerified, { req, payer: claim.payer, terms: claim.terms });
      return gate.serve({ req, res, next, options, door, claim, offer });
    }
  }
}
