import { setTimeout } from 'node:timers/promises';
import type { Claim } from '../../facilitator/types.js';
import { defined } from '../../lib/defined.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import type { CallRecord, CallStore, FinishOptions, KeptAnswer } from '../../storage/calls/call-store.js';
import type { CreditStore } from '../../storage/calls/credit-store.js';
import type { Spending } from '../figures/spending.js';
import { singlePrices } from '../prices/project-offers.js';
import type { DescribeToken, TokenLabel } from '../token-label.js';
import type { Call } from './call.js';
import { type CallBudgets, createCallBudgets } from './call-budgets.js';
import type { CallLimits } from './call-limits.js';
import {
  type CallEnd,
  type ChargedEnd,
  type CoveredCall,
  type CreditedCall,
  callEvents,
  chargeOf,
  coveredRecord,
  type FreeCall,
  type PaidCall,
  type PricedHold,
  paidRecord,
  recordOf,
  type ShownCall,
} from './call-records.js';

/** Calls of projects: how many at once, on what budgets, and what is written of them. */
export interface Calls extends Pick<CallLimits, 'requireRoom'>, Omit<CallBudgets, 'giveBack'> {
  /**
   * Lets a call in that is paid; asked again it changes nothing.
   * @throws TollhouseError `rate_limited`, see `CallLimits.enter`
   */
  enter(call: Call): Promise<void>;
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
   * so that nobody is served for it again; it is to be called again until it does not.
   */
  ended(paid: PaidCall, end: CallEnd & { readonly charged: boolean }): () => Promise<void>;
  /** Whether {@link endedWith} can keep the responses of a store. */
  readonly keepsFor: CallStore['keepsFor'];
  /**
   * The same for a call that is charged and whose response is about to end, which is kept in that transaction where it is given. Resolves with whether it was
   * written; where it was not, or that rejects, it is to be {@link ended}.
   */
  endedWith(paid: PaidCall, end: CallEnd, kept?: KeptAnswer): Promise<boolean>;
  /** Holds what the call costs of the credit of its key, in the first of its tokens in which there is so much. */
  holdCredit(call: Call): Promise<PricedHold | undefined>;
  /** The call was not passed on. */
  giveCreditBack(hold: Pick<PricedHold, 'id'>): Promise<void>;
  /**
   * A call that credit pays is over, and charged or not; it may be called again while it rejects.
   * @param kept - the response of one that is charged, written with it
   */
  endedOnCredit(credited: CreditedCall, end: CallEnd & { readonly charged: boolean }, kept?: KeptAnswer): Promise<void>;
  /** A call that costs nothing is over. Does not reject, as {@link endedOnPass}. */
  endedFree(free: FreeCall, end: CallEnd): Promise<void>;
  /**
   * A call that a pass covers is over, and charged or not. Does not reject: what cannot be written is told of, and missing in the figures.
   * @param kept - the response of one that is charged, written with it
   */
  endedOnPass(covered: CoveredCall, end: CallEnd & { readonly charged: boolean }, kept?: KeptAnswer): Promise<void>;
}

/** What {@link createCalls} works with. */
export interface CallsParts {
  readonly book: Pick<CallStore, 'finish' | 'keepsFor' | 'refuse' | 'challenge'>;
  readonly credit: Pick<CreditStore, 'hold' | 'giveBack'>;
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

/** As long as credit is held: what is written later finds that it was given back. */
const CREDIT_HOLD_MS = 600_000;
const RETRY_MS = 2_000;

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
    async enter(call) {
      call.leave ??= await limits.enter(call.project, call.key.owner);
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
        await finish(paidRecord(paid, end), paid, options);
        tellSpent(paid);
      };
    },
    keepsFor: (store) => book.keepsFor(store),
    async endedWith(paid, end, kept) {
      const isWritten = await finish(paidRecord(paid, { ...end, charged: true }), paid, {
        ...usesOf(paid),
        ...defined({ kept }),
      });
      if (!isWritten) return false;
      markBooked(paid.call);
      tellSpent(paid);
      return true;
    },
    holdCredit: (call) => holdPrice(credit, call),
    giveCreditBack: ({ id }) => credit.giveBack(id),
    endedOnCredit: (credited, end, kept) => endOnCredit(credited, { ...end, ...defined({ kept }) }, finish, credit),
    async endedFree(free, end) {
      const { call } = free;
      const reservation = reservationOf(call);
      markBooked(call);
      await finish(recordOf(free, end), inOwnToken(call), reservation).catch(() => undefined);
    },
    async endedOnPass(covered, end, kept) {
      const { call } = covered;
      markBooked(call);
      const written = finish(coveredRecord(covered, end), inOwnToken(call), defined({ kept }));
      // The pass was debited: without its call the figures lack one, and nobody any money. Tried again, it could be there twice.
      await written.catch(() => undefined);
    },
  };
}

/** A call of which no money tells its token. */
function inOwnToken(call: Call): ShownCall {
  return { call, paidIn: call.project.price.token };
}

/** Holds the price of a call in the first of its tokens in which its key has as much credit. */
async function holdPrice(credit: Pick<CreditStore, 'hold'>, { project, key }: Call): Promise<PricedHold | undefined> {
  for (const { token, amount } of singlePrices(project.price)) {
    const charge = { mint: token.mint, amount };
    const hold = await credit.hold({ keyId: key.id, projectId: project.id, charge });
    if (hold !== undefined) return { ...hold, token, amount };
  }
  return undefined;
}

/** Writes a call that credit pays, and gives back what it has not used. */
async function endOnCredit(
  credited: CreditedCall,
  { kept, ...end }: ChargedEnd & Pick<FinishOptions, 'kept'>,
  finish: Finish,
  credit: Pick<CreditStore, 'giveBack'>,
): Promise<void> {
  const { call, hold } = credited;
  const record = recordOf(credited, end);
  const reservation = reservationOf(call);
  markBooked(call);
  const charge = { mint: hold.token.mint, amount: hold.amount };
  const used = { ...record, charge, credit: { kind: 'used', charge } as const };
  const isUsed = () => finish(used, credited, { ...reservation, ...defined({ kept }), creditHoldId: hold.id });
  // The response has left: an outage of the database must not give it away.
  if (end.charged && (await untilWritten(isUsed))) return;
  // Not charged; or it has taken so long that its credit was given back.
  await finish(record, credited, reservation);
  await credit.giveBack(hold.id);
}

/** Writes a call with the events that tell of it. */
type Finish = (record: CallRecord, shown: ShownCall, options: FinishOptions) => Promise<boolean>;

function createFinish({ book, wake, onFault, now }: CallsParts): Finish {
  return async (record, shown, options) => {
    const events = callEvents(shown, record, now());
    const written = await book.finish(record, { ...options, events }).catch((error: unknown) => {
      onFault(error);
      throw error;
    });
    wake();
    return written;
  };
}

/** Tries again and again for as long as credit is held at least. */
async function untilWritten(write: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + CREDIT_HOLD_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (performance.now() > end) throw error;
      await setTimeout(RETRY_MS, undefined, { ref: false });
    }
  }
}

/** What a paid call uses up, and what is held back for it. */
function usesOf({ call, claim: { id, lease } }: PaidCall) {
  return { payment: { id, lease }, ...reservationOf(call) };
}

function reservationOf({ held }: Call): { readonly reservationId?: string } {
  return held === undefined ? {} : { reservationId: held.id };
}

/** It was answered: what cannot be written now is not to be given back. */
function markBooked(call: Call): void {
  call.held = undefined;
  call.isBooked = true;
}
