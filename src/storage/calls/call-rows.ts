import { defined } from '../../lib/defined.js';
import { amountOf, amountToSql } from '../ledger/payment-rows.js';
import { type ColumnValues, orMissing } from '../sql/columns.js';
import type { Row } from '../sql/sql-database.js';
import { summand } from '../sql/sql-sums.js';
import type { CallRecord, Charge, CreditChange, ListedCall } from './call-store.js';

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

function chargeOf({ mint, amount }: Row): Charge | undefined {
  return orMissing(mint, (it) => ({ mint: String(it), amount: amountOf(amount) }));
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

/** A row of `tollhouse_call`. */
export function toCall(row: Row): ListedCall {
  return {
    seq: BigInt(String(row.seq)),
    id: String(row.id),
    projectId: String(row.project_id),
    at: Number(row.at),
    method: String(row.method),
    outcome: row.outcome as ListedCall['outcome'],
    durationMs: Number(row.duration_ms),
    requestId: String(row.request_id),
    ...defined({
      keyId: orMissing(row.key_id, String),
      buyer: orMissing(row.buyer, String),
      payer: orMissing(row.payer, String),
      status: orMissing(row.status, Number),
      reason: orMissing(row.reason, String),
      charge: chargeOf(row),
      credit: creditOf(row),
      pass: passOf(row),
      paymentId: orMissing(row.payment_id, String),
      signature: orMissing(row.signature, String),
      route: orMissing(row.route, String),
      upstreamMs: orMissing(row.upstream_ms, Number),
      gatewayMs: orMissing(row.gateway_ms, Number),
    }),
  };
}
