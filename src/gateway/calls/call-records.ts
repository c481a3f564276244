import type { Claim } from '../../facilitator/types.js';
import { defined } from '../../lib/defined.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { Receipt, Token } from '../../protocol/types.js';
import type { CallRecord, Charge, CreditChange } from '../../storage/calls/call-store.js';
import type { CreditHold } from '../../storage/calls/credit-store.js';
import { type EventRecord, newEvent } from '../../storage/events/events.js';
import type { TokenLabel } from '../token-label.js';
import type { Call } from './call.js';
import { routeLabel } from './route-label.js';

/** A call whose money has landed. */
export interface PaidCall {
  readonly call: Call;
  /** The payment, and what it paid. */
  readonly claim: Pick<Claim, 'id' | 'lease' | 'payer'>;
  readonly receipt: Receipt;
  /** The token that was paid in. */
  readonly paidIn: TokenLabel;
  /** The pass that it has bought; missing where it has bought this call alone. */
  readonly passId?: string | undefined;
  /** `X-Request-Id`. */
  readonly requestId: string;
}

/** A call that a pass covers. */
export interface CoveredCall {
  readonly call: Call;
  readonly passId: string;
  /** Wallet of the pass, base58. */
  readonly payer: string;
  /** `X-Request-Id`. */
  readonly requestId: string;
}

/** A call that costs nothing. */
export type FreeCall = Pick<PaidCall, 'call' | 'requestId'>;

/** Credit that is held for a call, and what the call costs of it. */
export interface PricedHold extends CreditHold {
  readonly token: Token;
  /** Atomic units. */
  readonly amount: bigint;
}

/** A call that credit pays. */
export interface CreditedCall {
  readonly call: Call;
  readonly hold: PricedHold;
  /** The token of the credit. */
  readonly paidIn: TokenLabel;
  /** `X-Request-Id`. */
  readonly requestId: string;
}

/** How the upstream was asked for a call. */
export interface CallEnd {
  /** Its status; missing where it did not answer. */
  readonly status?: number | undefined;
  /** Error code, where it failed. */
  readonly reason?: string | undefined;
  /** From when it was called until the end, in milliseconds. */
  readonly durationMs: number;
  /** From when it was called until the head of its response came; missing where none came. */
  readonly upstreamMs?: number | undefined;
}

/** The same, and whether it is charged. */
export type ChargedEnd = CallEnd & { readonly charged: boolean };

/** What an event shows beside the record. */
export type ShownCall = Pick<PaidCall, 'call' | 'paidIn'>;

/** What has paid for a call, as it is written of it. */
type PaidWith = Pick<CallRecord, 'payer' | 'paymentId' | 'signature' | 'charge' | 'credit' | 'pass'>;

/** What is written of a call. @param paidWith - what has paid for it. Default: nothing has */
export function recordOf(
  { call, requestId }: Pick<PaidCall, 'call' | 'requestId'>,
  end: CallEnd,
  paidWith: PaidWith = {},
): CallRecord {
  const { id, project, key, at, method, rule, passedOnAfterMs: gatewayMs } = call;
  const { status, reason, durationMs, upstreamMs } = end;
  return {
    id,
    projectId: project.id,
    caller: { keyId: key.id, owner: key.owner },
    at,
    method,
    outcome: reason === undefined ? 'succeeded' : 'failed',
    durationMs: Math.round(durationMs),
    route: routeLabel(call),
    requestId,
    ...defined({ status, reason, rule, upstreamMs, gatewayMs }),
    ...paidWith,
  };
}

/** What was paid for a call. */
export function chargeOf({ receipt }: Pick<PaidCall, 'receipt'>): Charge {
  return { mint: receipt.asset, amount: receipt.amount };
}

/** What is written of a call that was paid: of one that was not charged that is credit, unless it has bought a pass. */
export function paidRecord(paid: PaidCall, end: ChargedEnd): CallRecord {
  const { claim, receipt, passId } = paid;
  const charge = chargeOf(paid);
  const pass = passOf(passId, end);
  const isEarned = end.charged || pass !== undefined;
  const payment = { payer: claim.payer, paymentId: claim.id, signature: receipt.signature, ...defined({ pass }) };
  return recordOf(paid, end, isEarned ? { charge, ...payment } : { credit: { kind: 'given', charge }, ...payment });
}

/** What is written of a call that a pass covers. */
export function coveredRecord(covered: CoveredCall, end: ChargedEnd): CallRecord {
  const { passId, payer } = covered;
  return recordOf(covered, end, { payer, ...defined({ pass: passOf(passId, end) }) });
}

function passOf(id: string | undefined, { charged }: Pick<ChargedEnd, 'charged'>): CallRecord['pass'] {
  return id === undefined ? undefined : { id, uses: charged ? 1 : 0 };
}

/** The events that tell of a call: its seller, and the owner of its key, where that is somebody else. */
export function callEvents({ call: { project, key }, paidIn }: ShownCall, record: CallRecord, at: number) {
  const { id, method, status, outcome, reason, charge, credit, pass, payer, paymentId, signature, durationMs } = record;
  const paid = charge && {
    asset: charge.mint,
    amount: formatAmount(charge.amount, paidIn.decimals),
    amount_atomic: String(charge.amount),
    token: paidIn.symbol,
  };
  const data = {
    call_id: id,
    slug: project.slug,
    network: project.price.network,
    key_id: key.id,
    method,
    ...defined({ status, reason }),
    ...paid,
    ...(credit === undefined ? {} : { credit: creditData(credit, paidIn) }),
    ...defined({ pass_id: pass?.id, payer, payment_id: paymentId, tx_signature: signature }),
    duration_ms: durationMs,
    request_id: record.requestId,
  };
  const type = outcome === 'succeeded' ? 'call.succeeded' : 'call.failed';
  const told = (owner: string, shown: EventRecord['data']) =>
    newEvent({ type, owner, projectId: project.id, data: shown }, at);
  const toSeller = told(project.owner, data);
  return key.owner === project.owner ? [toSeller] : [toSeller, told(key.owner, { told_to: 'buyer', ...data })];
}

function creditData({ kind, charge: { mint, amount } }: CreditChange, { symbol, decimals }: TokenLabel) {
  return { kind, asset: mint, amount: formatAmount(amount, decimals), amount_atomic: String(amount), token: symbol };
}
