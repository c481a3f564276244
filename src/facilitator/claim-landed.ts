import { randomUUID } from 'node:crypto';
import type { Receipt, Terms } from '../protocol/types.js';
import type { LandedTransaction } from '../solana/landed-transaction.js';
import type { ClaimRequest, PaymentRecord, PaymentRequestRecord } from '../storage/ledger.js';
import { outcomeEvent } from './event-records.js';
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
  | {
      readonly status: 'won';
      readonly record: PaymentRecord;
      readonly lease: string;
      readonly receipt: Receipt;
      /** Nobody has brought it before. */
      readonly isNew: boolean;
    }
  | { readonly status: 'busy' | 'closed'; readonly record: PaymentRecord }
  | { readonly status: 'outrun' };

/**
 * A payment that landed without us is claimed like any other, so that it pays one thing only, and its money is written down.
 * @param leaseMs - how long it may be held
 */
export async function claimLanded(
  parts: PaymentDeskParts,
  use: LandedUse,
  leaseMs: number = parts.leases.leaseMs,
): Promise<LandedClaim> {
  const { payer, terms, resource, seller } = use;
  const { messageHash: id, blockhash } = use.landed;
  const binding = bindingOf(resource, terms);
  const held = await heldHere(parts, id, binding);
  if (held !== undefined) return { status: 'busy', record: held };
  const claim = { id, binding, payer, terms, blockhash, lease: randomUUID(), leaseMs, ...seller };
  // What pays a request is attached to it before its money counts.
  const won = use.request === undefined ? await claimNew(parts, claim, use) : undefined;
  return won ?? claimKnown(parts, claim, use);
}

/** Claim, outcome and event in one step, which is all there is for most. */
async function claimNew(
  { ledger, leases, events, now }: PaymentDeskParts,
  claim: ClaimRequest,
  use: LandedUse,
): Promise<LandedClaim | undefined> {
  const { id, lease, leaseMs } = claim;
  const { signature, resource } = use;
  const receipt = receiptFor(use);
  const settled = { id, resource, receipt };
  const event = outcomeEvent('payment.settled', settled, claim, now());
  const record = await ledger.claimLanded(claim, { slot: receipt.slot, signature, events: [event] });
  if (record === undefined) return undefined;
  leases.hold(id, lease, leaseMs);
  events.emit('payment.settled', settled);
  return { status: 'won', record, lease, receipt, isNew: true };
}

async function claimKnown(parts: PaymentDeskParts, claim: ClaimRequest, use: LandedUse): Promise<LandedClaim> {
  const { ledger, leases } = parts;
  const { id, lease, leaseMs } = claim;
  const { request, resource } = use;
  const { status, record } = await ledger.claim(claim);
  if (status !== 'won') return { status, record };
  try {
    if (request !== undefined && (await ledger.attachAttempt(request.id, id)) !== id) {
      await ledger.release(id, lease);
      return { status: 'outrun' };
    }
    const receipt = receiptFor(use);
    if (record.state !== 'confirmed')
      await writeDown({ ...parts, record, lease, resource }, { status: 'settled', receipt });
    leases.hold(id, lease, leaseMs);
    return { status: 'won', record, lease, receipt, isNew: false };
  } catch (error) {
    await ledger.release(id, lease);
    throw error;
  }
}

function receiptFor({ signature, landed, payer, terms }: LandedUse): Receipt {
  const { network, payTo, asset, amount } = terms;
  return { signature, network, payer, payTo, asset, amount, slot: landed.slot };
}
