import { TollhouseError } from '../errors.js';
import type { Receipt, Settlement } from '../protocol/types.js';
import type { Ledger, Outcome, PaymentRecord } from '../storage/ledger.js';
import type { BackendSettlement, InspectedPayment, SettlementBackend, SettleStep } from './backend.js';
import { type KeptOutcome, outcomeEvent } from './event-records.js';
import type { PaymentEventBus, PaymentEvents } from './events.js';
import type { PaymentUse } from './types.js';

/** A payment that is held, and everything needed to take its money. */
export interface ClaimedPayment {
  readonly ledger: Ledger;
  readonly backend: SettlementBackend;
  readonly events: PaymentEventBus;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  readonly inspected: InspectedPayment;
  /** As it was when it was claimed. */
  readonly record: PaymentRecord;
  readonly lease: string;
  readonly use: PaymentUse;
}

/**
 * Takes the money of a held payment and writes down what happened, each step before the next begins:
 * the signature before the transaction is sent, the outcome before anybody is told. An outcome that is not known is left
 * as it is, so that the next attempt asks the chain again.
 */
export async function settleClaimed(claimed: ClaimedPayment): Promise<Settlement> {
  const { backend, inspected, record, ledger, lease, use } = claimed;
  const step: SettleStep = {
    commitment: use.commitment ?? 'confirmed',
    recordBroadcast: (broadcast) => ledger.recordBroadcast(record.id, lease, broadcast),
    withdrawBroadcast: () => ledger.withdrawBroadcast(record.id, lease),
  };
  const since = performance.now();
  const settlement =
    record.state === 'broadcast'
      ? await backend.resume(inspected, record, step)
      : await backend.settle(inspected, step);
  return writeDown({ ...claimed, resource: use.resource }, settlement, performance.now() - since);
}

/** A held payment, and what it buys. */
export interface HeldPayment extends Pick<ClaimedPayment, 'ledger' | 'events' | 'now' | 'record' | 'lease'> {
  readonly resource: string;
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
  const { ledger, events, record, lease, resource } = held;
  const { id, payer, terms } = record;
  const told = { id, resource, payer, terms };
  switch (settlement.status) {
    case 'settled': {
      const { slot, signature } = settlement.receipt;
      const timing = durationMs === undefined ? {} : { durationMs };
      const settled = { id, resource, receipt: settlement.receipt, ...timing };
      await end(held, { state: 'confirmed', slot, signature }, 'payment.settled', settled);
      return settlement;
    }
    case 'unsent': {
      await ledger.withdrawBroadcast(id, lease);
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

/** The lease ran out and somebody else took the payment over: that one serves it, we do not. */
function mustHold(held: boolean): void {
  if (held) return;
  throw new TollhouseError(
    'payment_in_progress',
    'The payment was taken over by another request; ask again in a moment.',
    {
      retryAfterSeconds: 1,
    },
  );
}

/** The receipt of a payment whose money has landed; undefined for the others. */
export function receiptOf(record: PaymentRecord): Receipt | undefined {
  const { state, signature, slot, payer, terms } = record;
  if ((state !== 'confirmed' && state !== 'served') || signature === undefined || slot === undefined) return undefined;
  const { network, payTo, asset, amount } = terms;
  return { signature, network, payer, payTo, asset, amount, slot };
}
