import type { Request, Response } from 'express';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { varyBy } from '../gate/cache-control.js';
import type { Decision } from '../gate/gate.js';
import { type PresentedPayment, readPayment, takeBackPayment } from '../gate/presented-payment.js';
import { exposeHeaders } from '../gate/respond.js';
import { PASS_VARY, type PassRefusal } from '../passes/pass-types.js';
import { keptSignIn, signedOut } from '../wallet/keep-sign-in.js';
import { decidePaidBefore } from './paid-before.js';
import type { PaymentGate } from './payment-gate.js';
import { EXPOSED_HEADERS, PAYMENT_VARY } from './payment-required.js';

/** What is known of a request before its payment is looked at. */
export type Approach = Decided | AtPayment;

interface Decided {
  readonly decision: Decision;
}

/** A request that its payment decides about. */
export interface AtPayment {
  readonly decision?: undefined;
  /** The gate for its caller: of those who hold something, their own. */
  readonly gate: PaymentGate;
  /** The payment that it brings. */
  readonly presented: PresentedPayment | undefined;
  /** Why the pass that it shows covers nothing. */
  readonly passRefusal: PassRefusal | undefined;
}

/** Decides about a request that needs no payment: one that was paid at a gate before, that a pass covers, or whose caller has it free. */
export function beforePayment(gate: PaymentGate, req: Request, res: Response): MaybePromise<Approach> {
  gate.watch?.();
  takeBackPayment(req, res);
  return whenKnown(withoutPrice(gate, req, res), (decision) =>
    decision === undefined ? coveredOrHeld(gate, req, res) : { decision },
  );
}

/** A request that has paid already, or that is not for what is sold: it signs a page in or out. */
function withoutPrice(gate: PaymentGate, req: Request, res: Response): MaybePromise<Decision | undefined> {
  const paidBefore = decidePaidBefore(gate, req);
  if (paidBefore !== undefined) return paidBefore;
  const { sales } = gate.passes ?? {};
  const signsIn = sales?.parts ?? gate.holders?.parts;
  if (signsIn === undefined) return undefined;
  return signedOut(req, res, signsIn, () => sales?.forget(req, res)) ?? keptSignIn(req, res, signsIn);
}

function coveredOrHeld(gate: PaymentGate, req: Request, res: Response): MaybePromise<Approach> {
  // Whoever pays with a HEAD would have paid for no body. To those who are sold calls, a HEAD is one of them.
  const isHead = req.method === 'HEAD' && gate.run === undefined;
  const presented = isHead ? undefined : readPayment(req);
  return whenKnown(gate.passes?.sales?.admit(req, res, presented !== undefined), (covered) =>
    covered?.admitted ? { decision: covered } : heldOrOwed(gate, req, res, { presented, passRefusal: covered }),
  );
}

function heldOrOwed(
  gate: PaymentGate,
  req: Request,
  res: Response,
  found: Pick<AtPayment, 'presented' | 'passRefusal'>,
): MaybePromise<Approach> {
  if (gate.passes?.sales === undefined) varyBy(res, gate.passes === undefined ? PAYMENT_VARY : PASS_VARY);
  exposeHeaders(res, EXPOSED_HEADERS);
  return whenKnown(gate.holders?.standing(req, res, found.presented !== undefined), (standing) => {
    if (standing?.decision !== undefined) return standing;
    const own = standing?.rule && gate.holders?.gateOf(standing.rule);
    own?.watch?.();
    return owed(own ?? gate, req, res, found);
  });
}

/** What credit has to cover is what this caller pays. */
function owed(
  gate: PaymentGate,
  req: Request,
  res: Response,
  { presented, passRefusal }: Pick<AtPayment, 'presented' | 'passRefusal'>,
): MaybePromise<Approach> {
  return whenKnown(gate.passes?.compensation?.admit(req, res, presented !== undefined), (onCredit) =>
    onCredit?.admitted ? { decision: onCredit } : { gate, presented, passRefusal: nearer(passRefusal, onCredit) },
  );
}

/** Of what neither takes, the one knows more that it is for, or that something is left of. */
function nearer(byPass: PassRefusal | undefined, onCredit: PassRefusal | undefined): PassRefusal | undefined {
  const isMore = byPass?.cause.told === undefined && onCredit?.cause.told !== undefined;
  const isForOther = byPass === undefined || byPass.cause.code === 'pass_of_another_route' || isMore;
  return isForOther ? (onCredit ?? byPass) : byPass;
}
