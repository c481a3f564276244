import { randomUUID } from 'node:crypto';
import { termsFingerprint } from '../protocol/match-terms.js';
import { REASONS } from '../protocol/reasons.js';
import type { Payment, Settlement, Terms, Verification } from '../protocol/types.js';
import type { Ledger, PaymentRecord } from '../storage/ledger.js';
import type { InspectedPayment, SettlementBackend } from './backend.js';
import type { PaymentEventBus } from './events.js';
import { heldHere } from './held-here.js';
import type { Leases } from './leases.js';
import { receiptOf, settleClaimed } from './settle.js';
import type { Claim, Facilitator, OpenedPayment, PaymentUse, SettleOptions } from './types.js';

/** The resource of payments that are settled for a server elsewhere. */
const SETTLE_ONLY = 'settle';

/** What the desk works with. */
export interface PaymentDeskParts {
  readonly ledger: Ledger;
  readonly backend: SettlementBackend;
  readonly leases: Leases;
  readonly events: PaymentEventBus;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** The part of a facilitator that holds, settles and completes payments. */
export type PaymentDesk = Pick<Facilitator, 'verifyPayment' | 'openPayment' | 'settlePayment'>;

/**
 * Every payment goes over this desk, whichever door it came through and whoever settles it. The order is fixed: rules that
 * cost nothing, the claim, the chain. So one transaction is served once, and a bad one costs no call.
 */
export function createPaymentDesk(parts: PaymentDeskParts): PaymentDesk {
  return {
    verifyPayment: (payment, terms) => verifyPayment(parts, payment, terms),
    openPayment: (payment, terms, use) => openPayment(parts, payment, terms, use),
    settlePayment: (payment, terms, options) => settlePayment(parts, payment, terms, options),
  };
}

async function verifyPayment(
  { backend, ledger }: PaymentDeskParts,
  payment: Payment,
  terms: Terms,
): Promise<Verification> {
  const inspection = await backend.inspect(payment, terms);
  if (!inspection.ok) return { ok: false, ...inspection.refusal };
  const { payer, transaction } = inspection.inspected;
  const record = await ledger.find(transaction.messageHash);
  if (record === undefined || record.state === 'claimed') return backend.verify(inspection.inspected);
  // A settlement whose outcome was not known can be asked for again, and servers verify before they settle.
  const unfinished = record.state === 'broadcast' || record.state === 'confirmed';
  if (unfinished && record.binding === bindingOf(SETTLE_ONLY, terms)) return { ok: true, payer };
  return { ok: false, reason: 'duplicate_settlement', message: REASONS.duplicate_settlement, payer };
}

async function openPayment(
  parts: PaymentDeskParts,
  payment: Payment,
  terms: Terms,
  use: PaymentUse,
): Promise<OpenedPayment> {
  const inspection = await parts.backend.inspect(payment, terms);
  if (!inspection.ok) return { status: 'refused', refusal: inspection.refusal };
  return openInspected(parts, inspection.inspected, use);
}

/** Holds a payment whose form was found right, for one use. */
export async function openInspected(
  parts: PaymentDeskParts,
  inspected: InspectedPayment,
  use: PaymentUse,
): Promise<OpenedPayment> {
  const { transaction, payer, terms } = inspected;
  const { leaseMs = parts.leases.leaseMs } = use;
  const lease = randomUUID();
  const binding = bindingOf(use.resource, terms);
  if ((await heldHere(parts, transaction.messageHash, binding)) !== undefined) return { status: 'in_progress' };
  const { status, record } = await parts.ledger.claim({
    id: transaction.messageHash,
    binding,
    payer,
    terms,
    blockhash: transaction.blockhash,
    lease,
    leaseMs,
    ...use.seller,
  });
  if (status === 'busy') return { status: 'in_progress' };
  if (status === 'closed') return closedPayment(record, binding);
  parts.leases.hold(record.id, lease, leaseMs);
  const claim = claimOf(parts, inspected, record, lease, use);
  try {
    const opened = await begin(parts, record, inspected, claim, use);
    if (opened.status !== 'open') await claim.release();
    return opened;
  } catch (error) {
    await claim.release();
    throw error;
  }
}

/** What can be done with a payment that was just won: it may be new, or half done by somebody who gave up on it. */
async function begin(
  { backend, events }: PaymentDeskParts,
  record: PaymentRecord,
  inspected: InspectedPayment,
  claim: Claim,
  use: PaymentUse,
): Promise<OpenedPayment> {
  if (record.state === 'broadcast') {
    const settlement = await claim.settle();
    if (settlement.status === 'pending') return { status: 'pending', settlement };
    return settlement.status === 'failed' ? { status: 'refused', refusal: settlement } : { status: 'open', claim };
  }
  if (record.state === 'claimed' && use.simulate !== false) {
    const verification = await backend.verify(inspected);
    if (!verification.ok) {
      const { id, payer, terms } = record;
      events.emit('payment.failed', { id, resource: use.resource, payer, terms, reason: verification.reason });
      return { status: 'refused', refusal: verification };
    }
  }
  return { status: 'open', claim };
}

async function settlePayment(
  parts: PaymentDeskParts,
  payment: Payment,
  terms: Terms,
  { deliver = async () => true }: SettleOptions = {},
): Promise<Settlement> {
  const opened = await openPayment(parts, payment, terms, { resource: SETTLE_ONLY });
  if (opened.status !== 'open') {
    const settlement = unopened(opened);
    await deliver(settlement);
    return settlement;
  }
  const { claim } = opened;
  try {
    const settlement = await claim.settle();
    const arrived = await deliver(settlement);
    await (settlement.status === 'settled' && arrived ? claim.complete() : claim.release());
    return settlement;
  } catch (error) {
    await claim.release();
    throw error;
  }
}

function unopened(opened: Exclude<OpenedPayment, { readonly status: 'open' }>): Settlement {
  if (opened.status === 'refused') return { status: 'failed', ...opened.refusal };
  if (opened.status === 'pending') return opened.settlement;
  const reason = opened.status === 'used' ? 'duplicate_settlement' : 'settlement_in_progress';
  return { status: 'failed', reason, message: REASONS[reason] };
}

/** What a payment is bound to: one resource, on these terms. */
export function bindingOf(resource: string, terms: Terms): string {
  return `${resource}|${termsFingerprint(terms)}`;
}

/** What a payment was for: the resource in its binding. */
export function resourceOf({ binding, terms }: PaymentRecord): string {
  return binding.slice(0, -bindingOf('', terms).length);
}

/** A payment that is over: its receipt for the one who bought with it, a refusal for anybody else. */
function closedPayment(record: PaymentRecord, binding: string): OpenedPayment {
  if (record.binding !== binding) return { status: 'used' };
  const { reason, payer } = record;
  if (reason !== undefined) return { status: 'refused', refusal: { reason, message: REASONS[reason], payer } };
  const receipt = receiptOf(record);
  return receipt === undefined ? { status: 'used' } : { status: 'used', receipt };
}

function claimOf(
  parts: PaymentDeskParts,
  inspected: InspectedPayment,
  record: PaymentRecord,
  lease: string,
  use: PaymentUse,
): Claim {
  const { ledger, leases } = parts;
  let receipt = receiptOf(record);
  let settling: Promise<Settlement> | undefined;

  async function settleOnce(): Promise<Settlement> {
    const settlement = await settleClaimed({ ...parts, inspected, record, lease, use });
    if (settlement.status === 'settled') receipt = settlement.receipt;
    return settlement;
  }

  return {
    id: record.id,
    lease,
    payer: record.payer,
    terms: record.terms,
    isNew: false,
    get receipt() {
      return receipt;
    },
    settle() {
      if (receipt !== undefined) return Promise.resolve({ status: 'settled', receipt });
      settling ??= settleOnce();
      return settling;
    },
    complete: (write = () => ledger.complete(record.id, lease)) => leases.finish(lease, write),
    async release() {
      leases.drop(lease);
      await ledger.release(record.id, lease);
    },
  };
}
