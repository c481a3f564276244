import type { Claim } from '../../facilitator/types.js';
import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import { isRequestId, type PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import type { Spending } from '../figures/spending.js';
import type { Call } from './call.js';

/** What calls and payment requests hold back of the budgets of their keys. */
export interface CallBudgets {
  /**
   * Holds back what a payment is going to cost the key of its call, once for each payment. What has landed already has left the
   * wallet: it counts, and is refused by no budget.
   * @throws TollhouseError `spending_limit_reached`, `store_unavailable`
   */
  hold(call: Call, claim: Pick<Claim, 'id' | 'resource' | 'terms' | 'receipt'>): Promise<void>;
  /**
   * Gives back what was held for a call that is not in the books, unless its payment may have been taken: what has left the
   * wallet counts until its call is written.
   */
  giveBack(call: Call): Promise<void>;
  /**
   * Holds back what a payment request is going to cost the key that it was made with.
   * @throws TollhouseError `spending_limit_reached`, `store_unavailable`
   */
  holdRequest(
    key: ServiceKey,
    request: Pick<PaymentRequestRecord, 'id' | 'token' | 'amount' | 'expiresAt'>,
  ): Promise<void>;
}

/** What {@link createCallBudgets} works with. */
export interface CallBudgetsParts {
  readonly spending: Pick<Spending, 'hold' | 'giveBack'>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** What was begun in time may land so much later; what has been sent is held by itself. */
const SETTLING_MS = 120_000;

/** Makes the budgets of a gateway's calls. */
export function createCallBudgets({ spending, now }: CallBudgetsParts): CallBudgets {
  return {
    async hold(call, { id, resource, terms, receipt }) {
      const { key, at } = call;
      const payment = isRequestId(resource) ? resource : id;
      const charge = { mint: terms.asset, amount: terms.amount };
      const isTaken = receipt !== undefined;
      call.held = isTaken ? { id: payment, isShared: true } : await spending.hold({ key, charge, at }, payment);
    },
    async giveBack(call) {
      if (!call.isBooked && !call.mayBePaid) await spending.giveBack(call.held);
    },
    async holdRequest(key, { id, token, amount, expiresAt }) {
      const at = now();
      const leaseMs = expiresAt - at + SETTLING_MS;
      await spending.hold({ key, charge: { mint: token.mint, amount }, at }, id, leaseMs);
    },
  };
}
