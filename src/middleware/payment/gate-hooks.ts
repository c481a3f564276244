import type { Request, Response } from 'express';
import { badOption } from '../../errors/errors.js';
import { errorText } from '../../lib/error-text.js';
import { isPending, type MaybePromise } from '../../lib/maybe-promise.js';
import type { Receipt, Refusal } from '../../protocol/types.js';
import { optionFault } from '../gate/option-fault.js';
import type { PaymentAttempt, PaymentGate } from './payment-gate.js';

/**
 * Tells the app about an event. A listener that throws, or whose promise rejects, is reported as a warning: the request,
 * whose money may have moved already, goes on.
 * @param where - the function that the listener was given to, for the warning
 * @param name - the option that it was given as
 */
export function callHook<Event>(
  where: string,
  name: string,
  hook: ((event: Event) => unknown) | undefined,
  event: Event,
): void {
  if (hook === undefined) return;
  try {
    Promise.resolve(hook(event)).catch((error: unknown) => warn(where, name, error));
  } catch (error) {
    warn(where, name, error);
  }
}

/** Tells the app that the money has landed. */
export function tellSettled({ where, options }: PaymentGate, req: Request, receipt: Receipt): void {
  callHook(where, 'onSettled', options.onSettled, { req, receipt });
}

/** Tells the app that a payment was refused or failed, with what is known to be wrong with the set-up. */
export function tellFailure({ where, options }: PaymentGate, req: Request, refusal: Refusal): void {
  const { facilitator, onFailed } = options;
  callHook(where, 'onFailed', onFailed, { req, refusal, findings: facilitator.setup.known()?.findings ?? [] });
}

function warn(where: string, name: string, error: unknown): void {
  process.emitWarning(`"${name}" of ${where} failed: ${errorText(error)}`, { code: 'TOLLHOUSE_LISTENER' });
}

/** Whether a response has its price, as its seller's own rule says. */
export function charges({ where, options }: Pick<PaymentGate, 'where' | 'options'>, res: Response): boolean {
  const verdict = askRule(where, () => options.charge(res));
  if (!isPending(verdict)) return verdict;
  Promise.resolve(verdict).catch(() => undefined);
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

/**
 * A 402, unless what the caller has paid before pays the request. Such a response has no receipt of the payment that was brought with it:
 * others may have made that, and another one has paid.
 */
export function creditFirst(
  { useCredit }: Pick<PaymentGate, 'useCredit'>,
  req: Request,
  res: Response,
  challenge: PaymentAttempt['challenge'],
): PaymentAttempt['challenge'] {
  if (useCredit === undefined) return challenge;
  return async (cause) => ((await useCredit(req, res)) ? undefined : challenge(cause));
}
