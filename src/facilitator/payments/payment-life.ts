import type { Commitment, Settlement } from '../../protocol/types.js';
import type { Ledger, Outcome, PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PassStore } from '../../storage/passes/pass-store.js';
import type { BackendSettlement, InspectedPayment, SettlementBackend, SettleStep } from '../backend/backend.js';
import type { RefusedSends } from '../backend/refused-sends.js';
import { type KeptOutcome, outcomeEvent } from '../events/event-records.js';
import type { PaymentEventBus, PaymentEvents } from '../events/events.js';
import type { Claim, OpenedPayment, PaymentUse } from '../types.js';
import { openBoughtPass } from './bought-pass.js';
import { claimInSpan } from './claim-span.js';
import { heldByThisProcess, mustHold } from './held-by-this-process.js';
import type { Leases } from './leases.js';
import { isFromBackup } from './lost-period.js';
import { bindingOf, boundBy } from './payment-binding.js';
import { type ClaimSettlement, createClaim } from './payment-claim.js';
import type { LeavePlace, PaymentsInFlight } from './payments-in-flight.js';
import { closedPayment, receiptOf } from './receipt.js';
import { isTooLateToRetry } from './retry-hash.js';

/** What payments are held and settled with. */
export interface PaymentServiceParts {
  readonly ledger: Ledger;
  readonly backend: SettlementBackend;
  readonly leases: Leases;
  /** Bounds how many are under way. */
  readonly inFlight: PaymentsInFlight;
  readonly events: PaymentEventBus;
  readonly passes: Pick<PassStore, 'open'>;
  /** Remembers what a node has refused. */
  readonly refusedSends: RefusedSends;
  /** Asks the chain what became of a payment that was sent and is waited for by nobody, and writes that down. Default: recovery does. */
  readonly follow?: ((record: PaymentRecord, commitment: Commitment) => Promise<unknown>) | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** Claims a payment that has passed the rules, for one use. Entered from a gate through `Facilitator.openPayment`; `leave` ends its place. */
export async function claimPayment(
  parts: PaymentServiceParts,
  inspected: InspectedPayment,
  use: PaymentUse,
  leave: LeavePlace,
): Promise<OpenedPayment> {
  const { ledger, leases, now } = parts;
  const { transaction, payer, terms } = inspected;
  const { leaseMs = leases.leaseMs, resource, seller } = use;
  const lease = ledger.newLease();
  const request = {
    id: transaction.messageHash,
    binding: bindingOf(resource, terms),
    payer,
    terms,
    blockhash: transaction.blockhash,
    lease,
    leaseMs,
    ...boundBy(use),
    ...seller,
  };
  // What this very process is at work on nobody wins, whatever the clock says of its lease.
  const lost = leases.holds(request.id) && (await heldByThisProcess(parts, request));
  const claimed = lost || (await claimInSpan(ledger, request));
  const { record } = claimed;
  if (claimed.status === 'busy') return { status: 'in_progress' };
  const isTooLate = isTooLateToRetry(record, now());
  if (claimed.status !== 'won' || isTooLate) {
    // Won, but who is known by nothing but an address comes again too late.
    if (claimed.status === 'won') await ledger.keep(record.id, lease);
    return closedPayment(record, claimed.status === 'closed' && !isTooLate);
  }
  leases.hold(record.id, lease, leaseMs);
  // Brought before for this very use, so that its handler may have run; a claim that binds it to its use is the first of it.
  const resumed = record.state !== 'claimed' && !claimed.isFirstUse;
  // The claim calls `settle` once, and not where the receipt is known; it ends the lease with whatever ends the payment.
  const sending = { mayBeSent: record.state !== 'claimed' };
  const payment = { parts, inspected, record, lease, leaseMs, use, sending, leave };
  const settle = (options: ClaimSettlement) => settleClaimed(payment, options);
  const drop = (): void => {
    leave();
    parts.backend.drop?.(record.id);
  };
  const [receipt, mayBeSent] = [receiptOf(record), () => sending.mayBeSent];
  const claim = createClaim({ ledger, leases, record, lease, resumed, receipt, settle, mayBeSent, drop });
  return begin(parts, inspected, claim, record, use);
}

/**
 * What can be done with a payment that was just won: a new one is simulated, one that may have been sent is settled to its
 * end, and of one whose money is there the response is owed.
 */
async function begin(
  { backend, ledger }: PaymentServiceParts,
  inspected: InspectedPayment,
  claim: Claim,
  record: PaymentRecord,
  use: PaymentUse,
): Promise<OpenedPayment> {
  // Sent before a backup that was restored it may have been served, and buys nothing; `settle` asks only what became of it.
  if (record.state === 'broadcast') return settleFirst(claim, { served: isFromBackup(ledger, record) });
  if (record.state !== 'claimed' || use.simulate === false) return { status: 'open', claim };
  try {
    const verification = await backend.verify(inspected, use);
    if (verification.ok) return { status: 'open', claim };
    // It may have landed since it was refused, which the simulation finds fault with as well.
    return settleFirst(claim, { served: false, refused: verification });
  } catch (error) {
    await claim.forget();
    throw error;
  }
}

/** @param how - `served`: whether it buys nothing any more */
async function settleFirst(claim: Claim, how: ClaimSettlement): Promise<OpenedPayment> {
  const settlement = await claim.settle(how);
  if (settlement.status === 'pending') return { status: 'pending', settlement };
  if (settlement.status === 'failed') return { status: 'refused', refusal: settlement };
  return how.served ? { status: 'served', id: claim.id, receipt: settlement.receipt } : { status: 'open', claim };
}

/** A payment that is held, and everything needed to take its money. */
interface ClaimedPayment {
  readonly parts: PaymentServiceParts;
  readonly inspected: InspectedPayment;
  /** As it was when it was claimed. */
  readonly record: PaymentRecord;
  readonly lease: string;
  readonly leaseMs: number;
  readonly use: PaymentUse;
  /** Tells whether its transaction may have been sent. */
  readonly sending: { mayBeSent: boolean };
  /** Ends its place among those in flight. */
  readonly leave: LeavePlace;
}

/**
 * Takes the money of a held payment and writes down what happened, each step before the next begins: the signature before
 * the transaction is sent (the backend sends nothing that `recordBroadcast` does not agree to), the outcome before anybody is
 * told. Unless the money has landed it is given back: forgotten where nothing was sent, kept where it may have been.
 */
async function settleClaimed(claimed: ClaimedPayment, options: ClaimSettlement): Promise<Settlement> {
  const { served, isWanted, refused } = options;
  const { parts, inspected, record, lease, leaseMs, use, sending, leave } = claimed;
  const { backend, ledger, passes, events, refusedSends, now } = parts;
  const { id } = record;
  const begunAt = now();
  const forget = (): Promise<boolean> => {
    sending.mayBeSent = false;
    return ledger.forget(id, lease);
  };
  const step: SettleStep = {
    commitment: use.commitment ?? 'confirmed',
    purpose: use,
    refused,
    async recordBroadcast(broadcast) {
      const isNoted = await ledger.recordBroadcast(id, lease, broadcast, leaseMs);
      // What could not be noted is not sent.
      sending.mayBeSent ||= isNoted;
      // Asked only now that all others find it as sent: before, one of them could have paid in its place, and both were sent.
      const isUnwanted = isNoted && isWanted !== undefined && !(await isWanted());
      if (isUnwanted) await forget();
      return isNoted && !isUnwanted;
    },
    // It was noted, and then refused by whoever was to send it; what is refused before that is `unsent`.
    async notSent(mayLand) {
      if (mayLand) await refusedSends.note(record, begunAt);
      return forget();
    },
    sentBefore: () => refusedSends.find(record),
  };
  const since = performance.now();
  try {
    const settlement = await (sending.mayBeSent
      ? backend.resume(inspected, record, step)
      : backend.settle(inspected, step));
    const held = { ledger, passes, events, now, record, lease, resource: use.resource, served };
    return await writeDown(held, settlement, performance.now() - since);
  } catch (error) {
    await (sending.mayBeSent ? ledger.keep(id, lease) : ledger.forget(id, lease)).catch(() => {});
    throw error;
  } finally {
    leave();
  }
}

/** A held payment, and what it buys. */
export interface HeldPayment
  extends Pick<PaymentServiceParts, 'ledger' | 'passes' | 'events' | 'now'>,
    Pick<ClaimedPayment, 'record' | 'lease'> {
  readonly resource: string;
  /** Whether landed money uses it up. Default false: something is owed for it. */
  readonly served?: boolean;
}

/**
 * Writes down how a held payment ended, and tells it. Rejects with `payment_in_progress` when it is not held any more.
 * @param durationMs - how long the settlement took; missing where it had landed before
 */
export async function writeDown(
  held: HeldPayment,
  settlement: BackendSettlement,
  durationMs?: number,
): Promise<Settlement> {
  const { ledger, events, record, lease, resource, served } = held;
  const { id, payer, terms } = record;
  const told = { id, resource, payer, terms };
  switch (settlement.status) {
    case 'settled': {
      // Before the outcome: should this process die between the two, the next one that asks the chain opens it.
      if (record.buys !== undefined) await openBoughtPass(held);
      const { slot, signature } = settlement.receipt;
      const settled = { id, resource, receipt: settlement.receipt, ...(durationMs !== undefined && { durationMs }) };
      await end(held, { state: served ? 'served' : 'confirmed', slot, signature }, 'payment.settled', settled);
      return settlement;
    }
    case 'unsent': {
      await ledger.forget(id, lease);
      events.emit('payment.failed', { ...told, reason: settlement.reason });
      return { ...settlement, status: 'failed' };
    }
    case 'failed': {
      const { final, ...failure } = settlement;
      const { reason } = failure;
      const outcome = { state: final, reason };
      if (final === 'expired') await end(held, outcome, 'payment.expired', told);
      else await end(held, outcome, 'payment.failed', { ...told, reason });
      return failure;
    }
    case 'pending':
      await ledger.keep(id, lease);
      events.emit('payment.pending', told);
      return settlement;
  }
}

/** Keeps the outcome with the event that tells of it; then tells it in this process. */
async function end<Name extends KeptOutcome>(
  { ledger, events, now, record, lease }: HeldPayment,
  outcome: Outcome,
  type: Name,
  told: PaymentEvents[Name],
): Promise<void> {
  mustHold(await ledger.recordOutcome(record.id, lease, outcome, [outcomeEvent(type, told, record, now())]));
  events.emit(type, told);
}
