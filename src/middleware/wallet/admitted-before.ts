import type { Request } from 'express';
import { z } from 'zod';
import type { Facilitator } from '../../facilitator/types.js';
import type { ProvenWallet } from '../../identity/types.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { readPayment } from '../gate/presented-payment.js';
import { paymentFingerprint } from '../idempotency/request-fingerprint.js';
import { retryOf } from '../idempotency/retry.js';
import { type CallerParts, callerOrigin } from './caller-request.js';

/** Whom a gate lets in. */
export interface AdmittedWallet {
  /** What the gate asks for, the same in every process. */
  readonly gate: string;
  readonly wallet: ProvenWallet;
  /** What the gate has learned of the wallet. */
  readonly note?: string | undefined;
}

/** What a gate works with that knows again whom it has let in. */
export interface AdmittingParts extends CallerParts {
  readonly facilitator: Pick<Facilitator, 'admittedWith' | 'network' | 'observed'>;
}

const walletSchema = z.object({
  address: z.string(),
  by: z.enum(['jwt', 'siwx']),
  scopes: z.array(z.string()).readonly(),
});
const admittedSchema = z.array(
  z.object({ gate: z.string(), site: z.string(), wallet: walletSchema, note: z.string().optional() }),
);
type KeptAdmitted = z.output<typeof admittedSchema>[number];

const notes = createRequestNote<Request, readonly KeptAdmitted[]>();

/** Notes whom a gate lets in with a request that pays: its payment is kept with that. Of other requests nothing is noted. */
export function noteAdmitted(req: Request, parts: AdmittingParts, admitted: AdmittedWallet): void {
  if (readPayment(req) === undefined) return;
  notes.put(req, [...(notes.of(req) ?? []), { ...admitted, site: callerOrigin(req, parts) }]);
}

/** What is kept with the payment of a request: whom gates have let in with it. */
export function admittedNoted(req: Request): string | undefined {
  const noted = notes.of(req);
  return noted && JSON.stringify(noted);
}

/**
 * Whom a gate has let in with the payment that a request brings: that was claimed then, for this very request, and is shown with its
 * secret. Who paid gets the response that way though the sign-in is used up, and the balance spent on the price. What is to become
 * of the payment, its gate decides as ever.
 */
export async function admittedBefore(
  req: Request,
  parts: AdmittingParts,
  gate: string,
): Promise<AdmittedWallet | undefined> {
  const reading = readPayment(req)?.reading;
  if (!reading?.ok) return undefined;
  const again = { retryHash: retryOf(req, reading.payment).hash, fingerprint: () => paymentFingerprint(req) };
  const kept = await parts.facilitator.admittedWith(reading.payment, again);
  if (kept === undefined) return undefined;
  const site = callerOrigin(req, parts);
  return admittedSchema.parse(JSON.parse(kept)).find((it) => it.gate === gate && it.site === site);
}
