import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import type { PaymentLoad } from '../types.js';
import { createAdaptiveLimit } from './adaptive-limit.js';

/** What there is no room for: a payment of anybody, or one more of its wallet. */
export type Crowded = 'all' | 'wallet';

/** Gives a place back. Called again it does nothing. */
export type LeavePlace = () => void;

/** A place that a payment has. */
export interface Place {
  /** Says that the payment was checked: what follows waits for a handler. How long that took tells how many there is room for. */
  checked(): void;
  readonly leave: LeavePlace;
}

/**
 * Places for payments in this process. Everything that is under way slows down everything else, as they share the processor and the
 * connections to the chain: beyond what can be served in time a payment is better turned away at once than served too late. How many
 * that are is learned, up to a bound ({@link createAdaptiveLimit}). No wallet has more than a fifth of the places, so that whoever floods is stopped alone.
 */
export interface PaymentsInFlight {
  /**
   * Takes a place for a payment, until it is given back.
   * @param payer - its wallet, base58
   * @param isDue - asked where there is no room: whether it goes on all the same, because its money may have moved already. It
   * is counted then like any other. Default: it does not
   * @throws TollhouseError `too_many_payments`, at once, or why none is begun at all; nothing was done
   */
  enter(payer: string, isDue?: (crowded: Crowded) => Promise<boolean>): Promise<Place>;
  /**
   * Turns away, before a payment is looked at, where there is no room for anybody's; takes no place.
   * @param isDue - as for `enter`
   * @throws TollhouseError `too_many_payments`
   */
  mustHaveRoom(isDue: () => Promise<boolean>): Promise<void>;
  /** Checks a payment in a place of its own, taken as by `enter`. */
  during<T>(payer: string, work: () => Promise<T>, isDue?: (crowded: Crowded) => Promise<boolean>): Promise<T>;
  load(): PaymentLoad;
}

/** Of a wallet: one in so many places, and one always. */
const WALLETS = 5;
const RETRY_SECONDS = 2;

/** Schema of the option that says how many there may be; the default stands here. */
export const paymentsInFlightOption = z
  .custom<number>(
    (it) => it === Number.POSITIVE_INFINITY || (Number.isSafeInteger(it) && Number(it) >= 1),
    'a whole number of payments, at least 1, or Infinity for no bound',
  )
  .default(500);

/**
 * @param max - how many there may be; `Infinity` for no bound
 * @param fault - why none is begun at all at the moment; who is due goes on. Default: never
 */
export function createPaymentsInFlight(max: number, fault?: () => TollhouseError | undefined): PaymentsInFlight {
  const byWallet = new Map<string, number>();
  let [all, turnedAway] = [0, 0];
  const limit = createAdaptiveLimit(max, () => all);

  function crowded(payer: string): Crowded | undefined {
    const places = limit.current();
    if ((byWallet.get(payer) ?? 0) >= Math.max(1, Math.floor(places / WALLETS))) return 'wallet';
    return all >= places ? 'all' : undefined;
  }

  function take(payer: string): Place {
    let isTaken = true;
    count(payer, 1);
    return {
      checked: limit.begin(),
      leave() {
        if (isTaken) count(payer, -1);
        isTaken = false;
      },
    };
  }

  function count(payer: string, by: number): void {
    all += by;
    const own = (byWallet.get(payer) ?? 0) + by;
    if (own === 0) byWallet.delete(payer);
    else byWallet.set(payer, own);
  }

  function turnAway(full: Crowded): never {
    turnedAway += 1;
    throw tooMany(full);
  }

  const enter: PaymentsInFlight['enter'] = async (payer, isDue = async () => false) => {
    const closed = fault?.();
    if (closed !== undefined && !(await isDue('all'))) throw closed;
    const full = crowded(payer);
    if (full !== undefined && !(await isDue(full))) turnAway(full);
    return take(payer);
  };

  return {
    enter,
    async mustHaveRoom(isDue) {
      if (all >= limit.current() && !(await isDue())) turnAway('all');
    },
    async during(payer, work, isDue) {
      const place = await enter(payer, isDue);
      try {
        return await work();
      } finally {
        place.checked();
        place.leave();
      }
    },
    load: () => ({ paymentsInFlight: all, maxPaymentsInFlight: max, roomForPayments: limit.current(), turnedAway }),
  };
}

function tooMany(full: Crowded): TollhouseError {
  const whose = full === 'all' ? 'payments' : 'payments of this wallet';
  const detail = `Too many ${whose} are under way here at the moment. This one was not looked at and is as good as before: send the same request with the same payment again in ${RETRY_SECONDS} seconds.`;
  return new TollhouseError('too_many_payments', detail, { retryAfterSeconds: RETRY_SECONDS });
}
