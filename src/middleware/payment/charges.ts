import type { Response } from 'express';
import { badOption } from '../../errors/errors.js';
import { isPending, type MaybePromise } from '../../lib/maybe-promise.js';
import { optionFault } from '../gate/option-fault.js';
import type { PaymentGate } from './payment-gate.js';

/** Whether a response has its price, as its seller's own rule says. */
export function charges({ where, options }: PaymentGate, res: Response): boolean {
  const verdict = askRule(where, () => options.charge(res));
  if (!isPending(verdict)) return verdict;
  verdict.catch(() => undefined);
  throw badOption(
    where,
    'the function "charge" must answer true or false, and answers a promise: make it no async one',
    'charge',
  );
}

function askRule(where: string, ask: () => MaybePromise<boolean>): MaybePromise<boolean> {
  try {
    return ask();
  } catch (error) {
    throw optionFault(where, 'charge', error);
  }
}
