import type { Request } from 'express';
import { badOption } from '../../errors/errors.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { termsFingerprint } from '../../protocol/match-terms.js';
import type { Terms } from '../../protocol/types.js';
import type { Decision } from '../gate/gate.js';
import type { PaymentGate } from './payment-gate.js';

interface PaidBefore {
  readonly gate: Pick<PaymentGate, 'where' | 'options' | 'useFor'>;
  readonly terms: Terms;
}

const notes = createRequestNote<Request, PaidBefore>();

/** Notes at which gate a request has paid, and what: another gate may stand behind it. */
export function notePaid(req: Request, gate: PaidBefore['gate'], terms: Terms): void {
  notes.put(req, { gate, terms });
}

/**
 * What a gate says about a request that has paid at a gate before it; undefined for other requests. What both ask for is paid
 * once. A request carries one payment, so that nobody could pay at two gates which ask for different things: rejects with
 * `bad_option` for such a route.
 */
export function decidePaidBefore(gate: PaymentGate, req: Request): Promise<Decision> | undefined {
  const before = notes.of(req);
  return before && decideBehind(gate, before, req);
}

async function decideBehind(gate: PaymentGate, before: PaidBefore, req: Request): Promise<Decision> {
  if (await asksTheSame(gate, before, req)) {
    return { admitted: true, enter: (next) => next() };
  }
  throw badOption(
    gate.where,
    `${req.method} ${req.baseUrl}${req.path} stands behind two payment gates that ask for different things, and a request can pay ` +
      'only one. Ask for the whole price at one gate, and take the other off this route',
  );
}

async function asksTheSame(
  gate: PaymentGate,
  { gate: other, terms: paid }: PaidBefore,
  req: Request,
): Promise<boolean> {
  // What is asked for depends on who signs in: another gate may know him otherwise.
  if (gate.holders !== undefined) return gate.where === other.where && gate.options.holders === other.options.holders;
  const { facilitator, settle, commitment } = gate.options;
  const isAlike =
    facilitator === other.options.facilitator &&
    settle === other.options.settle &&
    commitment === other.options.commitment &&
    // Whoever keeps books of its own must have a claim of its own.
    gate.useFor === undefined &&
    other.useFor === undefined;
  if (!isAlike) return false;
  const { network, feePayer = '' } = paid;
  const terms = await gate.termsFor(req, { network, feePayer });
  return terms.some((it) => termsFingerprint(it) === termsFingerprint(paid));
}
