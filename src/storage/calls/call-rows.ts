import { amountOf, amountToSql } from '../ledger/payment-rows.js';
import type { Row, SqlInput } from '../sql/sql-database.js';
import type { CallRecord, ListedCall } from './call-store.js';

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
} as const;

/** A call as {@link CALL_COLUMNS}, in their order. */
export function callToSql(call: CallRecord): readonly SqlInput[] {
  const { id, projectId, caller, payer, at, method, status, outcome, reason, charge } = call;
  const amount = charge === undefined ? null : amountToSql(charge.amount);
  return [
    ...[id, projectId, caller?.keyId ?? null, payer ?? null, at, method, status ?? null, outcome, reason ?? null],
    ...[charge?.mint ?? null, amount, call.paymentId ?? null, call.signature ?? null],
    ...[Math.round(call.durationMs), call.requestId],
  ];
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
  };
}
