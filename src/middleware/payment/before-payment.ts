import type { Request, Response } from 'express';
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
export type Approach =
  | { readonly decision: Decision }
  | {
      readonly decision?: undefined;
      /** The gate for its caller: of those who hold something, their own. */
      readonly gate: PaymentGate;
      /** The payment that it brings. */
      readonly presented: PresentedPayment | undefined;
      /** Why the pass that it shows covers nothing. */
      readonly shown: PassRefusal | undefined;
    };

/** Decides about a request that needs no payment: one that was paid at a gate before, that a pass covers, or whose caller has it free. */
export async function beforePayment(gate: PaymentGate, req: Request, res: Response): Promise<Approach> {
  gate.watch?.();
  takeBackPayment(req, res);
  const paidBefore = decidePaidBefore(gate, req);
  if (paidBefore !== undefined) return { decision: await paidBefore };
  const signsIn = gate.passes?.sales?.parts ?? gate.holders?.parts;
  const out = signsIn && signedOut(req, res, signsIn, () => gate.passes?.sales?.forget(req, res));
  if (out !== undefined) return { decision: out };
  const keeping = signsIn && keptSignIn(req, res, signsIn);
  const kept = keeping && (await keeping);
  if (kept !== undefined) return { decision: kept };
  const presented = readPayment(req);
  const isPaying = presented !== undefined;
  const sales = gate.passes?.sales;
  const shown = await sales?.admit(req, res, isPaying);
  if (shown?.admitted) return { decision: shown };
  if (sales === undefined) varyBy(res, gate.passes === undefined ? PAYMENT_VARY : PASS_VARY);
  exposeHeaders(res, EXPOSED_HEADERS);
  const standing = await gate.holders?.standing(req, res, isPaying);
  if (standing?.decision !== undefined) return standing;
  const own = standing?.rule && gate.holders?.gateOf(standing.rule);
  own?.watch?.();
  const asked = own ?? gate;
  // What credit has to cover is what this caller pays.
  const onCredit = await asked.passes?.compensation?.admit(req, res, isPaying);
  if (onCredit?.admitted) return { decision: onCredit };
  return { gate: asked, presented, shown: nearer(shown, onCredit) };
}

/** Of what neither takes, the one knows more that it is for, or that something is left of. */
function nearer(byPass: PassRefusal | undefined, onCredit: PassRefusal | undefined): PassRefusal | undefined {
  const isMore = byPass?.cause.told === undefined && onCredit?.cause.told !== undefined;
  const isForOther = byPass === undefined || byPass.cause.code === 'pass_of_another_route' || isMore;
  return isForOther ? (onCredit ?? byPass) : byPass;
}
