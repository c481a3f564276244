import { defined } from '../../lib/defined.js';
import { amountOf, amountToSql } from '../ledger/payment-rows.js';
import type { ColumnValues } from '../sql/columns.js';
import type { Row } from '../sql/sql-database.js';
import { summand } from '../sql/sql-sums.js';
import type { CallRecord, CreditChange, ListedCall } from './call-store.js';

/** Columns that are written of a call. */
export const CALL_COLUMNS = {
  id: 'text',
  project_id: 'text',
  key_id: 'text',
  payer: 'text',
  at: 'bigint',
  method: 'text',
  status: 'integer',
  outcome: 'text',
  reason: 'text',
  mint: 'text',
  amount: 'bigint',
  payment_id: 'text',
  signature: 'text',
  duration_ms: 'bigint',
  request_id: 'text',
  credit_mint: 'text',
  credit_amount: 'bigint',
  pass_id: 'text',
  pass_uses: 'integer',
  buyer: 'text',
  route: 'text',
  upstream_ms: 'bigint',
  gateway_ms: 'bigint',
} as const;

/** A call as {@link CALL_COLUMNS}. */
export function callToSql(call: CallRecord): ColumnValues<keyof typeof CALL_COLUMNS> {
  const { charge, credit, pass } = call;
  return {
    id: call.id,
    project_id: call.projectId,
    key_id: call.caller?.keyId ?? null,
    payer: call.payer ?? null,
    at: call.at,
    method: call.method,
    status: call.status ?? null,
    outcome: call.outcome,
    reason: call.reason ?? null,
    mint: charge?.mint ?? null,
    amount: charge === undefined ? null : amountToSql(charge.amount),
    payment_id: call.paymentId ?? null,
    signature: call.signature ?? null,
    duration_ms: Math.round(call.durationMs),
    request_id: call.requestId,
    credit_mint: credit?.charge.mint ?? null,
    credit_amount: credit === undefined ? null : creditToSql(credit),
    pass_id: pass?.id ?? null,
    pass_uses: pass?.uses ?? null,
    buyer: call.caller?.owner ?? call.payer ?? null,
    route: call.route ?? null,
    upstream_ms: roundedOr(call.upstreamMs),
    gateway_ms: roundedOr(call.gatewayMs),
  };
}

function roundedOr(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : Math.round(milliseconds);
}

/** More than nothing was given, less was used. */
function creditToSql({ kind, charge }: CreditChange): bigint {
  const amount = summand(charge.amount);
  return kind === 'given' ? amount : -amount;
}

function creditOf({ credit_mint: mint, credit_amount: value }: Row): CreditChange | undefined {
  if (mint === null || value === null) return undefined;
  const change = BigInt(String(value));
  const amount = change < 0n ? -change : change;
  return { kind: change < 0n ? 'used' : 'given', charge: { mint: String(mint), amount } };
}

function passOf({ pass_id: id, pass_uses: uses }: Row): CallRecord['pass'] {
  return id === null || id === undefined ? undefined : { id: String(id), uses: Number(uses) === 1 ? 1 : 0 };
}

function textOf(value: Row[string] | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

function numberOf(value: Row[string] | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

/** A row of `tollhouse_call`. */
export function toCall(row: Row): ListedCall {
  return {
    seq: BigInt(String(row.seq)),
    id: String(row.id),
    projectId: String(row.project_id),
    ...(row.key_id === null ? {} : { keyId: String(row.key_id) }),
    ...(row.payer === null ? {} : { payer: String(row.payer) }),
    at: Number(row.at),
    method: String(row.method),
    ...(row.status === null ? {} : { status: Number(row.status) }),
    outcome: row.outcome as ListedCall['outcome'],
    ...(row.reason === null ? {} : { reason: String(row.reason) }),
    ...(row.mint === null ? {} : { charge: { mint: String(row.mint), amount: amountOf(row.amount) } }),
    ...(row.payment_id === null ? {} : { paymentId: String(row.payment_id) }),
    ...(row.signature === null ? {} : { signature: String(row.signature) }),
    durationMs: Number(row.duration_ms),
    requestId: String(row.request_id),
    ...defined({ credit: creditOf(row), pass: passOf(row), buyer: textOf(row.buyer), route: textOf(row.route) }),
    ...defined({ upstreamMs: numberOf(row.upstream_ms), gatewayMs: numberOf(row.gateway_ms) }),
  };
}
