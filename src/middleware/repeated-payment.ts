import type { Request, Response } from 'express';
import type { Claim } from '../facilitator/types.js';
import { declareIdentifier, PAYMENT_IDENTIFIER, readIdentifier } from '../protocol/payment-identifier.js';
import type { Payment, Settlement } from '../protocol/types.js';
import type { Decision } from './gate.js';
import { leaveOpen } from './kept-response.js';
import { leaseOf } from './open-first.js';
import type { ResolvedPaymentOptions } from './payment-options.js';
import type { PresentedPayment } from './read-payment.js';
import { recordAnswer, sendReplay } from './record-answer.js';
import { createRepeatable, type Known, type Repeatable } from './repeatable.js';
import { requestFingerprint } from './request-fingerprint.js';
import { sendProblem } from './respond.js';

const RETRY_SECONDS = 1;
const MISSING = `This resource is paid with the extension "${PAYMENT_IDENTIFIER}": add an id to it that was not used before.`;

/** Declares in the 402 of a route that payments may carry an identifier; a declaration that was given by hand stays. */
export function declareIdentifiers(options: ResolvedPaymentOptions): ResolvedPaymentOptions {
  const { paymentIdentifier } = options;
  if (paymentIdentifier === 'off') return options;
  const declaration = declareIdentifier(paymentIdentifier === 'required');
  return Object.freeze({ ...options, extensions: { [PAYMENT_IDENTIFIER]: declaration, ...options.extensions } });
}

/**
 * What the identifier of a payment leads to: a decision, or a request whose paid answer can be asked for again; undefined
 * for a payment without one.
 */
export type Identified = { readonly decision: Decision } | { readonly repeatable: Repeatable } | undefined;

/**
 * Looks up the identifier that a payment carries (x402's `payment-identifier`), before the payment itself is looked at:
 * whoever lost a paid answer sends the very same payment again and gets it, though it is used up. The identifier belongs to
 * one payment header, method, address and body. Where the body is too long to be compared it is not looked up.
 */
export async function identify(
  options: ResolvedPaymentOptions,
  req: Request,
  res: Response,
  presented: PresentedPayment,
  payment: Payment,
): Promise<Identified> {
  const { paymentIdentifier, facilitator } = options;
  if (paymentIdentifier === 'off') return undefined;
  const reading = readIdentifier(payment.extensions);
  if (!reading.ok) return { decision: refused(() => sendProblem(res, 'invalid_payment_identifier', reading.detail)) };
  if (reading.id === undefined) {
    if (paymentIdentifier === 'optional') return undefined;
    return { decision: refused(() => sendProblem(res, 'invalid_payment_identifier', MISSING)) };
  }
  const fingerprint = await requestFingerprint(req, [req.get(presented.door.requestHeader) ?? '']);
  if (fingerprint === undefined) return undefined;
  const scope = JSON.stringify([PAYMENT_IDENTIFIER, req.method, `${req.baseUrl}${req.path}`]);
  const { answers } = facilitator;
  const repeatable = createRepeatable({ answers, scope, secret: reading.id, fingerprint, leaseMs: leaseOf(options) });
  const known = await repeatable.find();
  return known === undefined ? { repeatable } : { decision: decisionOn(res, known) };
}

/**
 * Begins the request of a held payment. Answers the payment, with whose end it is decided what becomes of the answer;
 * undefined when somebody else was faster under its identifier: the payment is given back then, and the request answered.
 * @param repeatable - for a payment that carries an identifier
 */
export async function beginPaid(
  res: Response,
  claim: Claim,
  repeatable: Repeatable | undefined,
): Promise<Claim | undefined> {
  if (repeatable === undefined) return answeredClaim(res, claim);
  try {
    const begun = await repeatable.begin();
    if (begun.status === 'started') return identifiedClaim(answeredClaim(res, claim), repeatable, recordAnswer(res));
    await claim.release();
    answerKnown(res, begun);
    return undefined;
  } catch (error) {
    await claim.release();
    throw error;
  }
}

/** A payment that is given back stays good, so nobody else may keep what was answered for it. */
function answeredClaim(res: Response, claim: Claim): Claim {
  return changed(claim, {
    release() {
      leaveOpen(res);
      return claim.release();
    },
  });
}

/** A payment with whose completion the answer is kept. */
function identifiedClaim(claim: Claim, repeatable: Repeatable, recorded: ReturnType<typeof recordAnswer>): Claim {
  let mayBePaid = claim.receipt !== undefined;
  async function settle(): Promise<Settlement> {
    const settlement = await claim.settle();
    mayBePaid = settlement.status !== 'failed';
    return settlement;
  }
  async function complete(write?: () => Promise<unknown>): Promise<void> {
    const answer = recorded();
    await Promise.all([claim.complete(write), answer === undefined ? repeatable.release() : repeatable.finish(answer)]);
  }
  async function release(): Promise<void> {
    // Once money may have moved under an identifier, no other payment goes under it.
    await Promise.all([claim.release(), mayBePaid ? repeatable.release() : repeatable.abandon()]);
  }
  return changed(claim, { settle, complete, release });
}

function changed(claim: Claim, changes: Partial<Pick<Claim, 'settle' | 'complete' | 'release'>>): Claim {
  return {
    id: claim.id,
    lease: claim.lease,
    payer: claim.payer,
    terms: claim.terms,
    isNew: claim.isNew,
    get receipt() {
      return claim.receipt;
    },
    settle: () => claim.settle(),
    complete: (write) => claim.complete(write),
    release: () => claim.release(),
    ...changes,
  };
}

function answerKnown(res: Response, known: Known): void {
  if (known.status === 'replay') return sendReplay(res, known.answer);
  if (known.status === 'running') {
    const detail = 'The request with this payment identifier is being served; send it again in a moment.';
    return sendProblem(res, 'payment_in_progress', detail, { retryAfterSeconds: RETRY_SECONDS });
  }
  const detail = 'Another payment or request was made under this payment identifier; this one was not charged.';
  sendProblem(res, 'payment_identifier_conflict', detail);
}

function decisionOn(res: Response, known: Known): Decision {
  const answer = () => answerKnown(res, known);
  return known.status === 'replay' ? { admitted: true, enter: answer } : refused(answer);
}

function refused(answer: () => void): Decision {
  return { admitted: false, wants: 'payment', presented: true, answer };
}
