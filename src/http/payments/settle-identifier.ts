import type { Request } from 'express';
import type { Facilitator } from '../../facilitator/types.js';
import { addressOwner } from '../../middleware/idempotency/address-owner.js';
import { createIdempotentRequest } from '../../middleware/idempotency/idempotent-request.js';
import { termsFingerprint } from '../../protocol/match-terms.js';
import { PAYMENT_IDENTIFIER, readIdentifier } from '../../protocol/payment-identifier.js';
import type { Payment, Settlement, Terms } from '../../protocol/types.js';
import { decodeTransaction } from '../../solana/transaction/transaction.js';

/** What a settlement may take before a crash is assumed, in milliseconds. */
const LEASE_MS = 120_000;

/** A settlement under the payer's identifier. */
export interface IdentifiedSettlement {
  /** Whether another payment was, or is being, settled under it. */
  readonly isTaken: boolean;
  /** Tells how the settlement ended. */
  end(settlement: Settlement): Promise<unknown>;
  /** It ended with an error: where nothing of the payment was ever sent, the identifier is free again. */
  breakOff(): Promise<unknown>;
}

const UNNAMED: IdentifiedSettlement = { isTaken: false, end: async () => {}, breakOff: async () => {} };
const TAKEN: IdentifiedSettlement = { ...UNNAMED, isTaken: true };
/** Success is answered once, and never again to whoever only knows what the payer sent. */
const NO_RESPONSE = { statusCode: 200, headers: {}, body: new Uint8Array() };

/**
 * Sees to it that at most one payment to a recipient is settled under one identifier of the payer's (x402's
 * `payment-identifier`). The same payment again is the ledger's business: it is no stored success, because the identifier is
 * known to the payer, who would be served anew by every server that believes in it. A server asks for its own response again
 * with an `Idempotency-Key`.
 */
export async function identifySettlement(
  { idempotency: store, knownPayment }: Facilitator,
  req: Request,
  { payment, terms }: { readonly payment: Payment; readonly terms: Terms },
): Promise<IdentifiedSettlement> {
  const reading = readIdentifier(payment.extensions);
  if (!reading.ok || reading.id === undefined) return UNNAMED;
  const run = createIdempotentRequest({
    store,
    scope: JSON.stringify([PAYMENT_IDENTIFIER, 'settle', terms.payTo]),
    secret: reading.id,
    fingerprint: `${termsFingerprint(terms)} ${Buffer.from(payment.transaction).toString('base64')}`,
    leaseMs: LEASE_MS,
    // Who pays is proven later, and whoever is named as payer here would lose the room that is his.
    owner: addressOwner(req),
  });
  const { status } = await run.begin();
  if (status === 'mismatch') return TAKEN;
  if (status !== 'started') return UNNAMED;
  /** Whoever has taken the run over may be refused what the one before has sent: then the identifier stays with it. */
  const endUnpaid = async () => ((await maybeSent(knownPayment, payment)) ? run.release() : run.abandon());
  return {
    isTaken: false,
    async end(settlement) {
      if (settlement.status === 'settled') return run.finish(NO_RESPONSE, settlement.receipt.payer);
      return settlement.status === 'failed' ? endUnpaid() : run.release();
    },
    breakOff: endUnpaid,
  };
}

/** Whether money has moved for a payment, or may; a store that does not tell says that it may. */
async function maybeSent(knownPayment: Facilitator['knownPayment'], { transaction }: Payment): Promise<boolean> {
  const decoded = decodeTransaction(transaction);
  if (!decoded.ok) return false;
  return knownPayment(decoded.transaction.messageHash).then(
    (known) => known !== undefined,
    () => true,
  );
}
