import type { Request } from 'express';
import type { Receipt, Refusal } from '../../protocol/types.js';
import type { PaymentGate } from './payment-gate.js';

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
  try {
    Promise.resolve(hook?.(event)).catch((error: unknown) => warn(where, name, error));
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
  process.emitWarning(`"${name}" of ${where} failed: ${String(error)}`, { code: 'TOLLHOUSE_LISTENER' });
}
