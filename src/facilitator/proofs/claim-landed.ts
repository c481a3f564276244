import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { Receipt, Terms } from '../../protocol/types.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { ClaimRequest, PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { outcomeEvent } from '../events/event-records.js';
import { heldByThisProcess } from '../payments/held-by-this-process.js';
import { isFromBackup, isLostByRestore } from '../payments/lost-period.js';
import { bindingOf, boundBy } from '../payments/payment-binding.js';
import { letGo } from '../payments/payment-claim.js';
import type { PaymentServiceParts } from '../payments/payment-life.js';
import { writeDown } from '../payments/payment-life.js';
import type { PaymentUse } from '../types.js';

/** A transaction that landed without us, and what it pays. */
export interface LandedUse extends Pick<PaymentUse, 'resource' | 'seller' | 'fingerprint' | 'retryHash'> {
  readonly signature: string;
  readonly landed: LandedTransaction;
  readonly payer: string;
  readonly terms: Terms;
  /** The request that it pays, if it pays one. */
  readonly request?: PaymentRequestRecord;
}

/** `outrun`: another transaction pays the request, or may still do so. `ended`: it is booked, and buys nothing: a backup was restored. */
export type LandedClaim =
  | {
      readonly status: 'won';
      readonly record: PaymentRecord;
      readonly lease: string;
      readonly receipt: Receipt;
      /** Whether it was brought before, for the same use. */
      readonly resumed: boolean;
    }
  | { readonly status: 'busy' | 'closed' | 'foreign' | 'ended'; readonly record: PaymentRecord }
  | { readonly status: 'outrun' };

/**
 * A payment that landed without us is claimed like any other, so that it pays one thing only, and its money is written down.
 * @param leaseMs - how long it may be held
 */
export async function claimLanded(
  parts: PaymentServiceParts,
  use: LandedUse,
  leaseMs: number = parts.leases.leaseMs,
): Promise<LandedClaim> {
  const { payer, terms, resource, seller } = use;
  const { messageHash: id, blockhash } = use.landed;
  const binding = bindingOf(resource, terms);
  const claim = {
    id,
    binding,
    payer,
    terms,
    blockhash,
    lease: parts.ledger.newLease(),
    leaseMs,
    ...boundBy(use),
    ...seller,
  };
  const held = await heldByThisProcess(parts, claim);
  if (held !== undefined && held.status !== 'won') return held;
  // What pays a request is attached to it before its money counts.
  const won = use.request === undefined ? await claimNew(parts, claim, use) : undefined;
  return won ?? claimKnown(parts, claim, use);
}

/** Claim, outcome and event in one step, which is all there is for most. */
async function claimNew(
  { ledger, leases, events, now }: PaymentServiceParts,
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
  return { status: 'won', record, lease, receipt, resumed: false };
}

async function claimKnown(parts: PaymentServiceParts, claim: ClaimRequest, use: LandedUse): Promise<LandedClaim> {
  const { ledger, leases } = parts;
  const { id, lease, leaseMs } = claim;
  const { request, resource } = use;
  const claimed = await ledger.claim(claim);
  if (claimed.status !== 'won') return claimed;
  const { record, isFirstUse } = claimed;
  try {
    if (request !== undefined && (await ledger.attachAttempt(request.id, id)) !== id) {
      await letGo(ledger, record, lease);
      return { status: 'outrun' };
    }
    const receipt = receiptFor(use);
    const isOver = record.state !== 'confirmed' && mayBeUsed(ledger, record, use);
    if (record.state !== 'confirmed')
      await writeDown({ ...parts, record, lease, resource, served: isOver }, { status: 'settled', receipt });
    if (isOver) return { status: 'ended', record: (await ledger.find(id)) ?? record };
    leases.hold(id, lease, leaseMs);
    return { status: 'won', record, lease, receipt, resumed: !isFirstUse };
  } catch (error) {
    await letGo(ledger, record, lease);
    throw error;
  }
}

/** Whether it may have been used although the books do not say so: they were lost, and restored from a backup. */
function mayBeUsed(ledger: PaymentServiceParts['ledger'], record: PaymentRecord, { landed }: LandedUse): boolean {
  const wasSent = record.state === 'broadcast' && isFromBackup(ledger, record);
  return wasSent || isLostByRestore(ledger, landed.blockTime);
}

function receiptFor({ signature, landed, payer, terms }: LandedUse): Receipt {
  const { network, payTo, asset, amount } = terms;
  return withAmountJson({ signature, network, payer, payTo, asset, amount, slot: landed.slot });
}
