import { createLeases } from '../../facilitator/payments/leases.js';
import { defined } from '../../lib/defined.js';
import type { FinishOptions, KeptAnswer } from '../../storage/calls/call-store.js';
import { CREDIT_HOLD_MS, type CreditStore } from '../../storage/calls/credit-store.js';
import { singlePrices } from '../prices/project-offers.js';
import type { Call } from './call.js';
import { type Finish, markBooked, reservationOf } from './call-finish.js';
import { type CallEnd, type ChargedEnd, type CreditedCall, type PricedHold, recordOf } from './call-records.js';
import { untilWritten } from './until-written.js';

/** The calls that credit pays. */
export interface CallCredit {
  /** Holds what the call costs of the credit of its key, in the first of its tokens in which there is so much. */
  holdCredit(call: Call): Promise<PricedHold | undefined>;
  /** The call was not passed on. */
  giveCreditBack(hold: Pick<PricedHold, 'id'>): Promise<void>;
  /**
   * A call that credit pays is over, and charged or not; it may be called again while it rejects.
   * @param kept - the response of one that is charged, written with it
   * @returns whether it is written; false, and it is to be ended as not charged, where its credit is gone or somebody else has the run of
   *   its response
   */
  endedOnCredit(
    credited: CreditedCall,
    end: CallEnd & { readonly charged: boolean },
    kept?: KeptAnswer,
  ): Promise<boolean>;
}

/** Where credit is held. */
export type HeldCredit = Pick<CreditStore, 'hold' | 'extend' | 'giveBack'>;

/** Makes what holds credit for calls, for as long as they are under way. */
export function createCallCredit(credit: HeldCredit, finish: Finish): CallCredit {
  // A call may flow for as long as it likes.
  const holds = createLeases(credit, CREDIT_HOLD_MS);
  return {
    async holdCredit(call) {
      const hold = await holdPrice(credit, call);
      if (hold !== undefined) holds.hold(hold.id, hold.id, CREDIT_HOLD_MS);
      return hold;
    },
    async giveCreditBack({ id }) {
      holds.drop(id);
      await credit.giveBack(id);
    },
    async endedOnCredit(credited, end, kept) {
      try {
        if (end.charged) return await endCharged(credited, { ...end, ...defined({ kept }) }, finish);
        await endUncharged(credited, end, finish);
        await credit.giveBack(credited.hold.id);
        return true;
      } finally {
        holds.drop(credited.hold.id);
      }
    },
  };
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

/** Writes a call that credit has paid. */
async function endCharged(
  credited: CreditedCall,
  { kept, ...end }: ChargedEnd & Pick<FinishOptions, 'kept'>,
  finish: Finish,
): Promise<boolean> {
  const { call, hold } = credited;
  const { held } = call;
  const options = { ...reservationOf(call), ...defined({ kept }), creditHoldId: hold.id };
  markBooked(call);
  const charge = { mint: hold.token.mint, amount: hold.amount };
  const used = recordOf(credited, end, { charge, credit: { kind: 'used', charge } });
  // The response has left: an outage of the database must not give it away.
  const isUsed = await untilWritten(() => finish(used, credited, options), kept);
  if (!isUsed) call.held = held;
  return isUsed;
}

async function endUncharged(credited: CreditedCall, end: ChargedEnd, finish: Finish): Promise<void> {
  const { call } = credited;
  const reservation = reservationOf(call);
  markBooked(call);
  await finish(recordOf(credited, end), credited, reservation);
}
