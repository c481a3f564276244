import { defined } from '../../lib/defined.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { Leg } from '../../protocol/money/split.js';
import { isReason } from '../../protocol/reasons.js';
import type { Terms } from '../../protocol/types.js';
import type { PassPurchase } from '../passes/pass-store.js';
import type { ColumnValues } from '../sql/columns.js';
import type { Row } from '../sql/sql-database.js';
import type { PaymentRecord, PaymentState } from './ledger.js';
import type { PaymentRequestRecord } from './payment-request.js';

/**
 * Amounts are unsigned 64-bit integers on the chain, and databases have signed ones only. They are kept in two's
 * complement: exact for all, plain to read, compare and sum for every amount up to 2^63 - 1.
 */
export function amountToSql(amount: bigint): bigint {
  return BigInt.asIntN(64, amount);
}

/** An amount as a database holds it. */
export function amountOf(value: Row[string] | undefined): bigint {
  return BigInt.asUintN(64, BigInt(String(value)));
}

/** The terms as columns: those that sums are made by, and the rest as JSON, which keeps every character of a memo. */
export function termsToSql({ network, asset, amount, payTo, ...rest }: Terms) {
  return { network, asset, amount: amountToSql(amount), pay_to: payTo, terms: JSON.stringify(rest) };
}

/** A row of `tollhouse_payment`. */
export function toPayment(row: Row): PaymentRecord {
  return {
    id: String(row.id),
    binding: String(row.binding),
    payer: String(row.payer),
    terms: withAmountJson({
      ...(JSON.parse(String(row.terms)) as Omit<Terms, 'network' | 'asset' | 'amount' | 'payTo'>),
      network: row.network as Terms['network'],
      asset: String(row.asset),
      amount: amountOf(row.amount),
      payTo: String(row.pay_to),
    }),
    blockhash: String(row.blockhash),
    ...lifeOf(row),
  };
}

/** What changes in the life of a payment, and to whom it belongs: the columns that a claim returns. */
export function lifeOf(row: Row) {
  const { reason } = row;
  return {
    state: row.state as PaymentState,
    claimedAt: Number(row.claimed_at),
    ...(typeof row.fingerprint === 'string' ? { fingerprint: row.fingerprint } : {}),
    ...(typeof row.retry_hash === 'string' ? { retryHash: row.retry_hash } : {}),
    ...(typeof row.admitted === 'string' ? { admitted: row.admitted } : {}),
    ...(row.reruns === null ? {} : { reruns: Number(row.reruns) }),
    ...(row.signature === null ? {} : { signature: String(row.signature) }),
    ...(row.last_valid_block_height === null ? {} : { lastValidBlockHeight: Number(row.last_valid_block_height) }),
    ...(row.slot === null ? {} : { slot: Number(row.slot) }),
    ...(typeof row.owner === 'string' ? { owner: row.owner } : {}),
    ...(typeof row.project_id === 'string' ? { projectId: row.project_id } : {}),
    ...(typeof row.owed === 'string' ? { owedLegs: legsFromSql(row.owed) } : {}),
    ...(typeof row.legs === 'string' ? { legs: legsFromSql(row.legs) } : {}),
    ...(typeof row.buys === 'string' ? { buys: purchaseFromSql(row.buys) } : {}),
    ...(typeof reason === 'string' && isReason(reason) ? { reason } : {}),
  };
}

type LegText = readonly [recipient: string, amount: string];

/** Shares as JSON. */
export function legsToSql(legs: readonly Leg[] | undefined): string | null {
  if (legs === undefined) return null;
  return JSON.stringify(legs.map(({ recipient, amount }): LegText => [recipient, String(amount)]));
}

/** Shares from {@link legsToSql}. */
export function legsFromSql(text: string): readonly Leg[] {
  return (JSON.parse(text) as LegText[]).map(([recipient, amount]) => ({ recipient, amount: BigInt(amount) }));
}

/** What a payment buys as JSON. */
export function purchaseToSql(purchase: PassPurchase | undefined): string | null {
  return purchase === undefined ? null : JSON.stringify(withAmountJson({ ...purchase }));
}

type PurchaseText = Omit<PassPurchase, 'bought' | 'left'> & { readonly bought?: string; readonly left?: string };

/** What a payment buys, from {@link purchaseToSql}. */
export function purchaseFromSql(text: string): PassPurchase {
  const { bought, left, ...rest } = JSON.parse(text) as PurchaseText;
  return { ...rest, ...defined({ bought: amountIn(bought), left: amountIn(left) }) };
}

function amountIn(digits: string | undefined): bigint | undefined {
  return digits === undefined ? undefined : BigInt(digits);
}

/** What of a payment request is kept as JSON. */
type Details = Omit<
  PaymentRequestRecord,
  'id' | 'network' | 'amount' | 'payTo' | 'createdAt' | 'expiresAt' | 'attempt' | 'legs'
> & { readonly legs: readonly { readonly recipient: string; readonly amount: string }[] };

/** Columns of a payment request, as {@link toPaymentRequest} reads them. */
export const REQUEST_COLUMNS = [
  'id',
  'network',
  'amount',
  'pay_to',
  'details',
  'created_at',
  'expires_at',
  'attempt',
] as const;

/** A payment request as the columns of `tollhouse_payment_request`. */
export function paymentRequestToSql(
  request: PaymentRequestRecord,
): ColumnValues<(typeof REQUEST_COLUMNS)[number] | 'reference'> {
  const { id, network, amount, payTo, createdAt, expiresAt, attempt, legs, ...rest } = request;
  const details: Details = {
    ...rest,
    legs: legs.map((leg) => ({ recipient: leg.recipient, amount: String(leg.amount) })),
  };
  return {
    id,
    network,
    amount: amountToSql(amount),
    pay_to: payTo,
    details: JSON.stringify(details),
    created_at: createdAt,
    expires_at: expiresAt,
    attempt: attempt ?? null,
    reference: request.reference,
  };
}

/** A row of `tollhouse_payment_request`. */
export function toPaymentRequest(row: Row): PaymentRequestRecord {
  const { legs, ...details } = JSON.parse(String(row.details)) as Details;
  return withAmountJson({
    ...details,
    id: String(row.id),
    network: row.network as PaymentRequestRecord['network'],
    amount: amountOf(row.amount),
    payTo: String(row.pay_to),
    legs: legs.map(({ recipient, amount }) => ({ recipient, amount: BigInt(amount) })),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    ...(row.attempt === null ? {} : { attempt: String(row.attempt) }),
  });
}

/** The first of some rows, converted; undefined when there is none. */
export function firstOf<R, T>([row]: readonly R[], convert: (row: R) => T): T | undefined {
  return row === undefined ? undefined : convert(row);
}
