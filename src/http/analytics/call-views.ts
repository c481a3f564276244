import type { TokenLabel } from '../../gateway/token-label.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { ListedCall } from '../../storage/calls/call-store.js';
import { type Cell, toCsv } from '../framework/csv.js';
import type { ResponseBody } from '../framework/fields.js';
import type { callResponse, ownCallResponse } from './call-schemas.js';

type Labels = ReadonlyMap<string, TokenLabel>;

/** What views of calls need beside them. */
export interface CallViewing {
  readonly tokens: Labels;
  /** The address of a payment's receipt. */
  readonly receiptUrl: (paymentId: string) => string;
}

/** A call as the project's owner sees it. */
export function callView(call: ListedCall, viewing: CallViewing): ResponseBody<typeof callResponse> {
  return { ...commonView(call, viewing), gateway_ms: call.gatewayMs ?? null };
}

/**
 * A call as its buyer sees it.
 * @param wallet - the buyer's: of keys of others it sees none
 * @param project - slug of its project, where it is known
 */
export function ownCallView(
  call: ListedCall,
  viewing: CallViewing,
  { wallet, project = null }: { readonly wallet: string; readonly project?: string | null | undefined },
): ResponseBody<typeof ownCallResponse> {
  const view = commonView(call, viewing);
  return { ...view, project, key_id: call.buyer === wallet ? view.key_id : null };
}

function commonView(call: ListedCall, { tokens, receiptUrl }: CallViewing) {
  const { charge, paymentId } = call;
  const label = charge === undefined ? undefined : tokens.get(charge.mint);
  return {
    id: call.id,
    at: new Date(call.at).toISOString(),
    project_id: call.projectId,
    method: call.method,
    route: call.route ?? null,
    status: call.status ?? null,
    outcome: call.outcome,
    reason: call.reason ?? null,
    key_id: call.keyId ?? null,
    payer: call.payer ?? null,
    amount: charge === undefined || label === undefined ? null : formatAmount(charge.amount, label.decimals),
    amount_atomic: charge === undefined ? null : String(charge.amount),
    token: label?.symbol ?? null,
    mint: charge?.mint ?? null,
    credit: creditView(call.credit, tokens),
    pass_id: call.pass?.id ?? null,
    pass_uses: call.pass?.uses ?? null,
    payment_id: paymentId ?? null,
    receipt_url: paymentId === undefined ? null : receiptUrl(paymentId),
    signature: call.signature ?? null,
    duration_ms: call.durationMs,
    upstream_ms: call.upstreamMs ?? null,
    request_id: call.requestId,
  };
}

function creditView(credit: ListedCall['credit'], tokens: Labels) {
  if (credit === undefined) return null;
  const { mint, amount } = credit.charge;
  const { symbol, decimals } = tokens.get(mint) ?? { symbol: mint, decimals: 0 };
  return { kind: credit.kind, amount: formatAmount(amount, decimals), amount_atomic: String(amount), token: symbol };
}

/**
 * Calls as a table: a column for each field, of credit one for each of its own.
 * @param fields - of the calls, also where there are none
 */
export function callsCsv(calls: readonly object[], fields: readonly string[]): string {
  const credit = ['kind', 'amount', 'amount_atomic', 'token'];
  const head = fields.flatMap((it) => (it === 'credit' ? credit.map((part) => `credit_${part}`) : it));
  const cell = (of: unknown, name: string) => Reflect.get(Object(of), name) as Cell;
  const rows = calls.map((call) =>
    fields.flatMap((it) => {
      if (it !== 'credit') return cell(call, it);
      return credit.map((part) => cell(Reflect.get(call, it), part));
    }),
  );
  return toCsv([head, ...rows]);
}
