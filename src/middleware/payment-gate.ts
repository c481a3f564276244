import type { NextFunction, Request, Response } from 'express';
import { TollhouseError } from '../errors.js';
import type { Claim, OpenedPayment } from '../facilitator/types.js';
import type { Door } from '../protocol/door.js';
import { findTerms } from '../protocol/match-terms.js';
import type { NetworkId, Payment, SupportedKind, Terms } from '../protocol/types.js';
import { type Soon, whenKnown } from '../soon.js';
import { callHook } from './call-hook.js';
import { signInExtensions } from './caller.js';
import { isGone } from './delivered.js';
import type { Decision, Refused } from './gate.js';
import { openFirst, type UseOf } from './open-first.js';
import { EXPOSED_HEADERS, type OfferCause, type OpenOffer, refusalCause, sendOffer, UNPAID } from './payment-offer.js';
import type { ResolvedPaymentOptions } from './payment-options.js';
import type { TermsFor } from './payment-terms.js';
import { readPayment } from './read-payment.js';
import type { Repeatable } from './repeatable.js';
import { beginPaid, identify } from './repeated-payment.js';
import { exposeHeaders, sendProblem } from './respond.js';
import { type PaidRequest, sendPending } from './serve-paid.js';
import './request-types.js';

/** How old the facilitator's view of its own health is at most. */
const RETRY_SECONDS = 5;

/** A price before something, whatever it is that is served. */
export interface PaymentGate {
  readonly options: ResolvedPaymentOptions;
  readonly termsFor: TermsFor;
  /** What the payment of a request is for. Default: the method and the path. */
  readonly useFor?: UseOf;
  /** Why the first 402 is sent. Default: the resource has a price. */
  readonly unpaid?: OfferCause;
  /** Serves a request whose payment is held. */
  serve(paid: PaidRequest): Promise<void>;
}

/** Whether a request has paid what a gate asks for. */
export async function decidePayment(gate: PaymentGate, req: Request, res: Response): Promise<Decision> {
  exposeHeaders(res, EXPOSED_HEADERS);
  const presented = readPayment(req);
  const reading = presented?.reading;
  if (reading?.ok === false && reading.code === 'invalid_payment_header') {
    return refused(true, () => sendProblem(res, reading.code, reading.detail));
  }
  const payment = reading?.ok ? reading.payment : undefined;
  const identified = presented && payment ? await identify(gate.options, req, res, presented, payment) : undefined;
  if (identified && 'decision' in identified) return identified.decision;
  const open = await openOffer(gate, req, payment);
  const offer = (cause: OfferCause) =>
    whenKnown(signInExtensions(req), (extensions) =>
      sendOffer(req, res, gate.options, extensions === undefined ? open : { ...open, extensions }, cause),
    );
  if (presented === undefined || reading === undefined) return refused(false, () => offer(gate.unpaid ?? UNPAID));
  if (!reading.ok) return refused(true, () => offer({ ...NO_MATCH, detail: reading.detail }));
  const candidates = await candidatesFor(gate, req, reading.payment, open);
  const opened = await openFirst(gate.options, req, reading.payment, candidates, gate.useFor);
  return decisionOn(gate, { req, res, presented, open, opened, offer, repeatable: identified?.repeatable });
}

/** The decision to answer instead of serving. */
export function refused(presented: boolean, answer: Refused['answer']): Refused {
  return { admitted: false, wants: 'payment', presented, answer };
}

/**
 * What is offered on a request. Rejects with `payment_backend_unavailable` or `fee_limit_reached` while nothing can be
 * settled.
 * @param payment - what was brought, if anything: its fee payer stays good
 */
export async function openOffer(gate: PaymentGate, req: Request, payment?: Payment): Promise<OpenOffer> {
  const { facilitator } = gate.options;
  const { kinds, signers, fault } = await facilitator.supported();
  const offered = kinds.find((it) => it.scheme === 'exact' && it.network === facilitator.network);
  const kind = offered ?? (payment === undefined ? undefined : earlierKind(facilitator.network, signers));
  if (kind === undefined) {
    if (fault !== undefined) throw fault;
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

/**
 * The terms that a payment may be for, the offered ones first. One that does not say what it was offered (version 1) may be
 * for any of several fee payers.
 */
async function candidatesFor(
  { options, termsFor }: PaymentGate,
  req: Request,
  payment: Payment,
  { terms }: OpenOffer,
): Promise<readonly Terms[]> {
  const offered = findTerms(payment, terms);
  if (payment.accepted !== undefined) return offered;
  const { network, supported } = options.facilitator;
  const { signers } = await supported();
  const others = signers.filter((signer) => terms.every(({ feePayer }) => feePayer !== signer));
  const kinds = others.map((feePayer) => ({ scheme: 'exact', network, feePayer }));
  const earlier = await Promise.all(kinds.map((kind) => termsFor(req, kind)));
  return [...offered, ...findTerms(payment, earlier.flat())];
}

/** With several fee payers, a payment that names another one than is offered now was offered that one before. */
function kindFor(kind: SupportedKind, payment: Payment, signers: readonly string[]): SupportedKind {
  const named = payment.accepted?.feePayer;
  return named !== undefined && signers.includes(named) ? { ...kind, feePayer: named } : kind;
}

/** A payment that was brought, and what came of opening it. */
export interface PaymentAttempt {
  readonly req: Request;
  readonly res: Response;
  readonly presented: { readonly door: Pick<Door, 'receipt'> };
  readonly open: OpenOffer;
  readonly opened: OpenedPayment | undefined;
  /** For a payment that carries an identifier. */
  readonly repeatable: Repeatable | undefined;
  /** Answers 402, with a way to sign in where that would help as well. */
  offer(cause: OfferCause): Soon<void>;
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

/** What follows from an opened payment. */
export function decisionOn(gate: PaymentGate, attempt: PaymentAttempt): Decision {
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

async function enter(gate: PaymentGate, attempt: PaymentAttempt, held: Claim, next: NextFunction): Promise<void> {
  const { req, res, presented, open, repeatable } = attempt;
  const { options } = gate;
  const claim = await beginPaid(res, held, repeatable);
  if (claim === undefined) return;
  if (isGone(res)) return claim.release();
  req.payment = { payer: claim.payer, terms: claim.terms, receipt: claim.receipt };
  callHook('onVerified', options.onVerified, { req, payer: claim.payer, terms: claim.terms });
  const offer = (cause: OfferCause) => sendOffer(req, res, options, open, cause);
  return gate.serve({ req, res, next, options, door: presented.door, claim, offer });
}
