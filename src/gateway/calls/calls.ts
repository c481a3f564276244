import type { Claim } from '../../facilitator/types.js';
import { defined } from '../../lib/defined.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import type { CallStore, KeptAnswer } from '../../storage/calls/call-store.js';
import type { Spending } from '../figures/spending.js';
import type { DescribeToken, TokenLabel } from '../token-label.js';
import type { Call } from './call.js';
import { type CallBudgets, createCallBudgets } from './call-budgets.js';
import { type CallCredit, createCallCredit, type HeldCredit } from './call-credit.js';
import { createFinish, type FinishParts, markBooked, reservationOf } from './call-finish.js';
import type { CallLimits, CallMeans } from './call-limits.js';
import {
  type CallEnd,
  type CoveredCall,
  chargeOf,
  coveredRecord,
  type FreeCall,
  type PaidCall,
  paidRecord,
  recordOf,
  type ShownCall,
} from './call-records.js';
import { untilWritten } from './until-written.js';

/** Calls of projects: how many at once, on what budgets, and what is written of them. */
export interface Calls extends Pick<CallLimits, 'requireRoom'>, Omit<CallBudgets, 'giveBack'>, CallCredit {
  /**
   * Lets a call in; asked again it changes nothing.
   * @param means - what it brings for its price
   * @throws TollhouseError `rate_limited`, see `CallLimits.enter`
   */
  enter(call: Call, means: CallMeans): Promise<void>;
  /** Ends a call that was let in, and gives back what was held for it, see {@link CallBudgets}. */
  leave(call: Call): Promise<void>;
  /** Counts a call that was turned away, by the error code. */
  refuse(refused: { readonly projectId: string; readonly at: number; readonly reason: string }): void;
  /** Counts a request without payment that was told the price. */
  challenge(asked: { readonly projectId: string; readonly at: number }): void;
  /** The token in which a request was paid: as it was agreed, whatever the project asks for since. */
  paidToken(call: Call, claim: Claim): Promise<TokenLabel>;
  /**
   * A paid call is over. It is charged, or what was paid is credit of its key at the project from now on; what has bought a pass is
   * charged as it is. Returns what writes
   * payment, credit, sums, budget and events in one transaction. While that rejects the payment stays held by this process,
   * so that nobody is served for it again; it is to be called again until it does not. False, and nothing was written, where this process
   * does not hold the payment any more.
   */
  ended(paid: PaidCall, end: CallEnd & { readonly charged: boolean }): () => Promise<boolean>;
  /** Whether {@link endedWith} can keep the responses of a store. */
  readonly keepsFor: CallStore['keepsFor'];
  /**
   * The same for a call that is charged and whose response is about to end, which is kept in that transaction where it is given. Resolves with whether it was
   * written; where it was not, or that rejects, it is to be {@link ended}.
   */
  endedWith(paid: PaidCall, end: CallEnd, kept?: KeptAnswer): Promise<boolean>;
  /** A call that costs nothing is over. Does not reject, as {@link endedOnPass}. */
  endedFree(free: FreeCall, end: CallEnd): Promise<void>;
  /**
   * A call that a pass covers is over, and charged or not. Does not reject: what cannot be written is told of, and missing in the figures.
   * @param kept - the response of one that is charged, written with it
   * @returns false, and nothing is written, where somebody else has the run of that response: it is to be ended as not charged
   */
  endedOnPass(covered: CoveredCall, end: CallEnd & { readonly charged: boolean }, kept?: KeptAnswer): Promise<boolean>;
}

/** What {@link createCalls} works with. */
export interface CallsParts extends FinishParts {
  readonly book: Pick<CallStore, 'finish' | 'keepsFor' | 'refuse' | 'challenge'>;
  readonly credit: HeldCredit;
  readonly spending: Spending;
  readonly limits: CallLimits;
  readonly describeToken: DescribeToken;
}

/** Makes the calls of a gateway's projects. */
export function createCalls(parts: CallsParts): Calls {
  const { book, credit, spending, limits, describeToken, now } = parts;

  const { giveBack, ...budgets } = createCallBudgets({ spending, now });

  const finish = createFinish(parts);

  function tellSpent(paid: PaidCall): void {
    const { key, at } = paid.call;
    void spending.tell({ key, charge: chargeOf(paid), at });
  }

  return {
    requireRoom: limits.requireRoom,
    async enter(call, means) {
      call.leave ??= await limits.enter(call.project, call.key.owner, means, call.client);
    },
    ...budgets,
    async leave(call) {
      call.leave?.();
      call.leave = undefined;
      await giveBack(call);
    },
    refuse: (refused) => book.refuse(refused),
    challenge: (asked) => book.challenge(asked),
    async paidToken({ project }, { terms }) {
      const { token } = project.price;
      // Its own token is known without asking.
      return moneyOf(terms.asset) === moneyOf(token.mint) ? token : describeToken(terms.asset);
    },
    ended(paid, end) {
      const { call } = paid;
      const options = usesOf(paid);
      markBooked(call);
      return async () => {
        const isWritten = await finish(paidRecord(paid, end), paid, options);
        tellSpent(paid);
        return isWritten;
      };
    },
    keepsFor: (store) => book.keepsFor(store),
    async endedWith(paid, end, kept) {
      const isWritten = await finish(paidRecord(paid, { ...end, charged: true }), paid, usesOf(paid, kept));
      if (!isWritten) return false;
      markBooked(paid.call);
      tellSpent(paid);
      return true;
    },
    ...createCallCredit(credit, finish),
    async endedFree(free, end) {
      const { call } = free;
      const reservation = reservationOf(call);
      markBooked(call);
      await finish(recordOf(free, end), inOwnToken(call), reservation).catch(() => undefined);
    },
    async endedOnPass(covered, end, kept) {
      const { call } = covered;
      markBooked(call);
      const write = () => finish(coveredRecord(covered, end), inOwnToken(call), defined({ kept }));
      // The pass was debited: without its call the figures lack one, and nobody any money. Tried again, it could be there twice; but for
      // one that ends a run, of which nobody may think that it was never served.
      const written = kept === undefined ? write() : untilWritten(write, kept);
      return written.catch(() => true);
    },
  };
}

/** A call of which no money tells its token. */
function inOwnToken(call: Call): ShownCall {
  return { call, paidIn: call.project.price.token };
}

/** What a paid call uses up, and what is held back for it. */
function usesOf({ call, claim: { id, lease } }: PaidCall, kept?: KeptAnswer) {
  return { payment: { id, lease }, ...reservationOf(call), ...defined({ kept }) };
}
