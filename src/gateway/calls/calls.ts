import type { Claim } from '../../facilitator/types.js';
import { formatAmount } from '../../protocol/money/money.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import type { Receipt } from '../../protocol/types.js';
import type { CallRecord, CallStore, Charge } from '../../storage/calls/call-store.js';
import { type EventRecord, newEvent } from '../../storage/events/events.js';
import type { Spending } from '../figures/spending.js';
import type { DescribeToken, TokenLabel } from '../token-label.js';
import type { Call } from './call.js';
import type { CallLimits } from './call-limits.js';

/** A call whose money has landed. */
export interface PaidCall {
  readonly call: Call;
  readonly claim: Claim;
  readonly receipt: Receipt;
  /** The token that was paid in. */
  readonly paidIn: TokenLabel;
  /** `X-Request-Id`. */
  readonly requestId: string;
}

/** How the upstream was asked for a call. */
export interface CallEnd {
  /** Its status; missing where it did not answer. */
  readonly status?: number | undefined;
  /** From when it was called until the end, in milliseconds. */
  readonly durationMs: number;
}

/** Calls of projects: how many at once, on what budgets, and what is written of them. */
export interface Calls extends CallLimits {
  /**
   * Holds back what a call is going to cost its key.
   * @param charge - default: the project's price
   * @throws TollhouseError `spending_limit_reached`, `store_unavailable`
   */
  hold(call: Call, charge?: Charge): Promise<void>;
  /** Gives back what was held for a call that is not in the books. */
  giveBack(call: Call): Promise<void>;
  /** Counts a call that was turned away, by the error code. */
  refuse(refused: { readonly projectId: string; readonly at: number; readonly reason: string }): void;
  /** The token in which a request was paid: as it was agreed, whatever the project asks for since. */
  paidToken(call: Call, claim: Claim): Promise<TokenLabel>;
  /**
   * The response was given: from now on nothing of the call is given back. Returns what writes payment, sums, budget and
   * events in one transaction. While that rejects the payment stays held by this process, so that nobody is served for it
   * again; it is to be called again until it does not.
   */
  served(paid: PaidCall, end: CallEnd & { readonly status: number }): () => Promise<void>;
  /** The upstream failed: writes that; the payment stays good. */
  failed(paid: PaidCall, end: CallEnd & { readonly reason: string }): Promise<void>;
}

/** What {@link createCalls} works with. */
export interface CallsParts {
  readonly book: Pick<CallStore, 'finish' | 'refuse'>;
  readonly spending: Spending;
  readonly limits: CallLimits;
  readonly describeToken: DescribeToken;
  /** An event was written. */
  readonly wake: () => void;
  /** Told of what could not be written. */
  readonly onFault: (error: unknown) => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** Makes the calls of a gateway's projects. */
export function createCalls({ book, spending, limits, describeToken, wake, onFault, now }: CallsParts): Calls {
  return {
    enter: limits.enter,
    async hold(call, charge = priceOf(call)) {
      call.reservationId = await spending.hold({ key: call.key, charge, at: call.at });
    },
    async giveBack(call) {
      if (!call.isBooked) await spending.giveBack(call.reservationId);
    },
    refuse: (refused) => book.refuse(refused),
    async paidToken({ project }, { terms }) {
      const { token } = project.price;
      // Its own token is known without asking.
      return moneyOf(terms.asset) === moneyOf(token.mint) ? token : describeToken(terms.asset);
    },
    served(paid, { status, durationMs }) {
      const { call, claim, receipt } = paid;
      const charge = { mint: receipt.asset, amount: receipt.amount };
      const record: CallRecord = { ...recordOf(paid, durationMs), status, outcome: 'succeeded', charge };
      const events = [callEvent(paid, record, now())];
      const options = { payment: { id: claim.id, lease: claim.lease }, events, ...reservationOf(call) };
      // It was served: what cannot be written now is not to be given back.
      call.reservationId = undefined;
      call.isBooked = true;
      return async () => {
        await book.finish(record, options).catch((error: unknown) => {
          onFault(error);
          throw error;
        });
        wake();
        void spending.tell({ key: call.key, charge, at: call.at });
      };
    },
    async failed(paid, { status, reason, durationMs }) {
      const { call } = paid;
      const answered = status === undefined ? {} : { status };
      const record: CallRecord = { ...recordOf(paid, durationMs), ...answered, outcome: 'failed', reason };
      await book.finish(record, { events: [callEvent(paid, record, now())], ...reservationOf(call) });
      call.isBooked = true;
      wake();
    },
  };
}

function priceOf({ project: { price } }: Call): Charge {
  return { mint: price.token.mint, amount: price.amount };
}

function reservationOf({ reservationId }: Call): { readonly reservationId?: string } {
  return reservationId === undefined ? {} : { reservationId };
}

function recordOf({ call, claim, receipt, requestId }: PaidCall, durationMs: number) {
  const { id, project, key, at, method } = call;
  return {
    id,
    projectId: project.id,
    caller: { keyId: key.id, owner: key.owner },
    payer: claim.payer,
    at,
    method,
    paymentId: claim.id,
    signature: receipt.signature,
    durationMs: Math.round(durationMs),
    requestId,
  };
}

function callEvent({ call: { project, key }, paidIn }: PaidCall, record: CallRecord, at: number): EventRecord {
  const { id, method, status, outcome, reason, charge, payer, paymentId, signature, durationMs, requestId } = record;
  const paid = charge && {
    amount: formatAmount(charge.amount, paidIn.decimals),
    amount_atomic: String(charge.amount),
    token: paidIn.symbol,
  };
  const data = {
    call_id: id,
    slug: project.slug,
    key_id: key.id,
    method,
    ...(status === undefined ? {} : { status }),
    ...(reason === undefined ? {} : { reason }),
    ...paid,
    payer,
    payment_id: paymentId,
    tx_signature: signature,
    duration_ms: durationMs,
    request_id: requestId,
  };
  const type = outcome === 'succeeded' ? 'call.succeeded' : 'call.failed';
  return newEvent({ type, owner: project.owner, projectId: project.id, data }, at);
}
