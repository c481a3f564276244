import { defined } from '../../lib/defined.js';
import { formatAmount } from '../../protocol/money/money.js';
import { networkOfSite } from '../../protocol/networks/pass-site.js';
import type { Receipt, Terms } from '../../protocol/types.js';
import { type EventData, type EventRecord, eventOnce, newEvent } from '../../storage/events/events.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { type Pass, statedEnd } from '../../storage/passes/pass-store.js';
import type { PaymentEvents } from './events.js';

/** The events of a payment's end that are kept; a payment on its way is told in process only. */
export type KeptOutcome = 'payment.settled' | 'payment.failed' | 'payment.expired';

/**
 * How a payment ended, as it is kept and sent. It belongs to the owner of the project, or else to the wallet
 * that is paid.
 */
export function outcomeEvent<Name extends KeptOutcome>(
  type: Name,
  told: PaymentEvents[Name],
  { owner, projectId, terms }: Pick<PaymentRecord, 'owner' | 'projectId' | 'terms'>,
  at: number,
): EventRecord {
  const project = defined({ projectId });
  return newEvent({ type, owner: owner ?? terms.payTo, data: outcomeData(told), ...project }, at);
}

function outcomeData(told: PaymentEvents[KeptOutcome]): EventData {
  const { id, resource } = told;
  const reason = 'reason' in told && told.reason !== undefined ? { reason: told.reason } : {};
  const timing =
    'durationMs' in told && told.durationMs !== undefined ? { duration_ms: Math.round(told.durationMs) } : {};
  if ('receipt' in told && told.receipt !== undefined) {
    const { payer, signature, slot, ...money } = told.receipt;
    return { payment_id: id, resource, payer, tx_signature: signature, slot, ...moneyOf(money), ...timing, ...reason };
  }
  // What has no receipt has terms.
  const whose = 'terms' in told ? { payer: told.payer, ...moneyOf(told.terms), ...reason } : {};
  return { payment_id: id, resource, ...whose };
}

function moneyOf({ network, asset, amount, payTo }: Pick<Terms, 'network' | 'asset' | 'amount' | 'payTo'>) {
  return { network, asset, amount_atomic: String(amount), pay_to: payTo };
}

/** What is told of a pass in its life. */
export type PassEvent = 'pass.created' | 'pass.used_up' | 'pass.expired';

/** What became of a pass, as it is kept and sent; undefined where nobody owns it. */
export function passEvent(type: PassEvent, pass: Omit<Pass, 'serial'>, at: number): EventRecord | undefined {
  const { id, paymentId, wallet, site, scope, kind, mint, bought, left, owner, projectId } = pass;
  const endsAt = statedEnd(pass);
  if (owner === undefined) return undefined;
  const network = networkOfSite(site);
  const ends = endsAt === undefined ? null : new Date(endsAt).toISOString();
  const what = { pass_id: id, payment_id: paymentId, wallet, site, covers: scope, kind, mint: mint ?? null };
  const amounts = { bought: bought?.toString() ?? null, left: left?.toString() ?? null };
  return newEvent(
    { type, owner, ...defined({ projectId }), data: { ...what, ...amounts, ends_at: ends, network } },
    at,
  );
}

/** That a payment was asked for. */
export function requestEvent(request: PaymentRequestRecord): EventRecord {
  const { id, network, token, amount, payTo, legs, reference, payer, memo, metadata } = request;
  const data = {
    payment_id: id,
    token: token.symbol,
    amount: formatAmount(amount, token.decimals),
    ...moneyOf({ network, asset: token.mint, amount, payTo }),
    split: legs.map((leg) => ({ recipient: leg.recipient, amount_atomic: String(leg.amount) })),
    reference,
    expires_at: new Date(request.expiresAt).toISOString(),
    ...defined({ payer, memo, metadata }),
  };
  return newEvent({ type: 'payment.created', ...sellerOf(request), data }, request.createdAt);
}

/** That a payment has brought more than the price of its request. */
export function overpaidEvent(
  request: PaymentRequestRecord,
  { payer, signature, slot, asset }: Receipt,
  surplus: bigint,
  at: number,
): EventRecord {
  const { id, network, amount, payTo } = request;
  const money = { ...moneyOf({ network, asset, amount, payTo }), surplus_atomic: String(surplus) };
  const data = { payment_id: id, payer, tx_signature: signature, slot, ...money };
  return eventOnce({ type: 'payment.overpaid', ...sellerOf(request), data }, at, [id, signature]);
}

/** That money has come with the reference of a request which does not pay it. */
export function unmatchedEvent(came: PaymentEvents['payment.unmatched'], at: number): EventRecord {
  const { request, signature, reason, received } = came;
  const { id, network, payTo } = request;
  const arrived = received.map(({ asset, amount, to, from }) => {
    return { asset, amount_atomic: String(amount), to, from: from ?? null };
  });
  const data = { payment_id: id, tx_signature: signature, reason, network, pay_to: payTo, received: arrived };
  return eventOnce({ type: 'payment.unmatched', ...sellerOf(request), data }, at, [id, signature]);
}

/** Who is told of a request: the owner of the project, or else the wallet that is paid. */
function sellerOf({ owner, payTo, projectId }: PaymentRequestRecord): Pick<EventRecord, 'owner' | 'projectId'> {
  return { owner: owner ?? payTo, ...defined({ projectId }) };
}
