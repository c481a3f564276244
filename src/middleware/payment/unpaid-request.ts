import type { Request, Response } from 'express';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import type { AskFirst, Decision } from '../gate/gate.js';
import { exposeHeaders } from '../gate/respond.js';
import { isPassForOther } from '../passes/pass-troubles.js';
import { signInBesidePayment } from '../wallet/wallet-auth.js';
import type { AtPayment } from './before-payment.js';
import { creditFirst } from './gate-hooks.js';
import { offeredOrPrepared, offeredTerms } from './offered-terms.js';
import type { PaymentAttempt, PaymentGate } from './payment-gate.js';
import {
  EXPOSED_HEADERS,
  type OfferedTerms,
  type RequiredCause,
  sendPaymentRequired,
  UNPAID,
} from './payment-required.js';
import { refused } from './payment-responses.js';

/**
 * Decides about a request that brings no payment: it is told what to pay. Nothing is waited for where that is known, as most requests
 * are such, and promises are a good part of what they cost.
 */
export function decideUnpaid(
  { gate, passRefusal }: Pick<AtPayment, 'gate' | 'passRefusal'>,
  req: Request,
  res: Response,
): MaybePromise<Decision> {
  return whenKnown(offeredOrPrepared(gate, req), (offered) => {
    const challenge = challengeWith(gate, req, res, offered);
    return refused(() => challenge(passRefusal?.cause ?? gate.unpaid ?? UNPAID), {
      presented: (passRefusal ?? offered.prepared) !== undefined,
      isForOther: passRefusal !== undefined && isPassForOther(passRefusal),
    });
  });
}

/**
 * How a payment gate asks a request that a gate before it refuses: the 402 that it would send, with the reason of the other. Should the
 * request have brought a payment, that is not looked at.
 */
export function askFirstAt(gate: PaymentGate): AskFirst {
  return async (req, res, reason) => {
    const offered = await offeredTerms(gate, req);
    exposeHeaders(res, EXPOSED_HEADERS);
    await sendOffered(gate, req, res, offered, reason);
  };
}

/** What answers a request 402 with what is offered to it, unless what its caller has paid before pays it. */
export function challengeWith(
  gate: PaymentGate,
  req: Request,
  res: Response,
  offered: OfferedTerms,
): PaymentAttempt['challenge'] {
  return creditFirst(gate, req, res, (cause) => sendOffered(gate, req, res, offered, cause));
}

function sendOffered(
  { options }: PaymentGate,
  req: Request,
  res: Response,
  offered: OfferedTerms,
  cause: RequiredCause,
): MaybePromise<void> {
  return whenKnown(signInBesidePayment(req), (extensions) =>
    sendPaymentRequired(req, res, options, extensions === undefined ? offered : { ...offered, extensions }, cause),
  );
}
