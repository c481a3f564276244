import { defined } from '../../lib/defined.js';
import { newId } from '../../lib/ids.js';
import type { EventRecord } from '../../storage/events/events.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { NewPass, PassPurchase, PassStore } from '../../storage/passes/pass-store.js';
import { passEvent } from '../events/event-records.js';
import type { PaymentEventBus } from '../events/events.js';

/** A payment that buys a pass. */
export interface PassPayment extends Pick<PaymentRecord, 'id' | 'payer' | 'owner' | 'projectId'> {
  readonly buys: PassPurchase;
  readonly terms: Pick<PaymentRecord['terms'], 'payTo'>;
}

/** The pass that a payment has bought, as it is opened at a time, and the events that tell of it. */
export function boughtPass(
  { id: paymentId, payer: wallet, buys, owner, projectId, terms }: PassPayment,
  time: number,
): { readonly pass: NewPass; readonly events: readonly EventRecord[] } {
  const whose = { wallet, owner: owner ?? terms.payTo, ...defined({ projectId }) };
  const pass: NewPass = { ...buys, id: newId('pas'), paymentId, ...whose };
  const endsAt = buys.lastsMs === undefined ? undefined : time + buys.lastsMs + (buys.graceMs ?? 0);
  const event = passEvent('pass.created', { ...pass, openedAt: time, ...defined({ endsAt }) }, time);
  return { pass, events: event === undefined ? [] : [event] };
}

/** What {@link openBoughtPass} works with. */
export interface PassOpening {
  readonly passes: Pick<PassStore, 'open'>;
  readonly events: Pick<PaymentEventBus, 'emit'>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  readonly record: Omit<PassPayment, 'buys'> & Pick<PaymentRecord, 'buys'>;
}

/** Opens the pass that a payment has bought whose money has landed, and tells it, unless that was done before; it may have bought none. */
export async function openBoughtPass({ passes, events, now, record }: PassOpening): Promise<void> {
  const { buys } = record;
  if (buys === undefined) return;
  const bought = boughtPass({ ...record, buys }, now());
  const pass = await passes.open(bought.pass, bought.events);
  if (pass.id === bought.pass.id) events.emit('pass.created', { pass });
}
