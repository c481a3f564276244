import { randomUUID } from 'node:crypto';
import type { Receipt, Terms } from '../protocol/types.js';
import type { LandedTransaction } from '../solana/landed-transaction.js';
import type { PaymentRecord, PaymentRequestRecord } from '../storage/ledger.js';
import { heldHere } from './held-here.js';
import { bindingOf, type PaymentDeskParts } from './payment-desk.js';
import { writeDown } from './settle.js';
import type { PaymentUse } from './types.js';

/** A transaction that landed without us, and what it pays. */
export interface LandedUse extends Pick<PaymentUse, 'resource' | 'seller'> {
  readonly signature: string;
  readonly landed: LandedTransaction;
  readonly payer: string;
  readonly terms: Terms;
  /** The request that it pays, if it pays one. */
  readonly request?: PaymentRequestRecord;
}

/** `outrun`: another transaction pays the request, or may still do so. */
export type LandedClaim =
  | { readonly status: 'won'; readonly record: PaymentRecord; readonly lease: string; readonly receipt: Receipt }
  | { readonly status: 'busy' | 'closed'; readonly record: PaymentRecord }
  | { readonly status: 'outrun' };

/**
 * A payment that landed without us is claimed like any other, so that it pays one thing only, and its money is written down.
 * @param leaseMs - how long it may be held
 */
export async function claimLanded(
  parts: PaymentDeskParts,
  { signature, landed, payer, terms, request, resource, seller }: LandedUse,
  leaseMs: number = parts.leases.leaseMs,
): Promise<LandedClaim> {
  const { ledger } = parts;
  const { messageHash: id, blockhash, slot } = landed;
  const lease = randomUUID();
  const binding = bindingOf(resource, terms);
  const held = await heldHere(parts, id, binding);
  if (held !== undefined) return { status: 'busy', record: held };
  const { status, record } = await ledger.claim({ id, binding, payer, terms, blockhash, lease, leaseMs, ...seller });
  if (status !== 'won') return { status, record };
  try {
    if (request !== undefined && (await ledger.attachAttempt(request.id, id)) !== id) {
      await ledger.release(id, lease);
      return { status: 'outrun' };
    }
    const { network, payTo, asset, amount } = terms;
    const receipt = { signature, network, payer, payTo, asset, amount, slot };
    if (record.state !== 'confirmed')
      await writeDown({ ...parts, record, lease, resource }, { status: 'settled', receipt });
    parts.leases.hold(id, lease, leaseMs);
    return { status: 'won', record, lease, receipt };
  } catch (error) {
    await ledger.release(id, lease);
    throw error;
  }
}
