import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import { createAddressShares } from '../../lib/work/address-shares.js';
import { createTally } from '../../lib/work/tally.js';
import type { PaymentLoad } from '../types.js';
import { createAdaptiveLimit } from './adaptive-limit.js';

/** What there is no room for: a payment of anybody, or one more of its wallet, or from its address. */
export type Crowded = 'all' | 'wallet' | 'address';

/** Who brings a payment. */
export interface Bringer {
  /** Its wallet, base58. */
  readonly payer: string;
  /** What names the client's address, an IPv6 one by its network. Default: not known, and no address has a share. */
  readonly client?: string | undefined;
}

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
 * that are is learned, up to a bound ({@link createAdaptiveLimit}). No wallet has more than a fifth of the places. No address has more than
 * its share of what the others leave of nine tenths of them, and no network around it more than a wider one: whoever floods is stopped
 * alone, with however many wallets. The last tenth is for those whose networks have no payment under way, one each: a newcomer is turned
 * away only once those from elsewhere who came as newcomers themselves, each from another network, have filled it. A client that is not
 * known has no share, and may fill it.
 */
export interface PaymentsInFlight {
  /**
   * Takes a place for a payment, until it is given back.
   * @param isDue - asked where there is no room: whether it goes on all the same, because its money may have moved already. It
   * is counted then like any other. Default: it does not
   * @throws TollhouseError `too_many_payments`, at once, or why none is begun at all; nothing was done
   */
  enter(by: Bringer, isDue?: (crowded: Crowded) => Promise<boolean>): Promise<Place>;
  /**
   * Turns away, before a payment is looked at, where there is no room for anybody's, or for one from its address; takes no place.
   * @param isDue - as for `enter`
   * @throws TollhouseError `too_many_payments`
   */
  mustHaveRoom(client: string | undefined, isDue: () => Promise<boolean>): Promise<void>;
  /** Checks a payment in a place of its own, taken as by `enter`. */
  during<T>(by: Bringer, work: () => Promise<T>, isDue?: (crowded: Crowded) => Promise<boolean>): Promise<T>;
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

/** Schema of the option that says what share of them one address may have; the default stands here. */
export const addressShareOption = z
  .number('a share of the places: more than 0, at most 1')
  .gt(0, 'a share of the places: more than 0, at most 1')
  .max(1, 'a share of the places: more than 0, at most 1')
  .default(0.5);

/** How many there may be. */
export interface PaymentBounds {
  /** At once; `Infinity` for no bound. */
  readonly maxPaymentsInFlight: number;
  /** What share of nine tenths of them one address may have that is alone; 1 for no bound. Default 1. */
  readonly maxAddressShare?: number;
}

/**
 * @param fault - why none is begun at all at the moment; who is due goes on. Default: never
 */
export function createPaymentsInFlight(
  { maxPaymentsInFlight: max, maxAddressShare: share = 1 }: PaymentBounds,
  fault?: () => TollhouseError | undefined,
): PaymentsInFlight {
  const byWallet = createTally();
  let [all, turnedAway] = [0, 0];
  const limit = createAdaptiveLimit(max, () => all);
  const shares = createAddressShares({ share, places: limit.current, taken: () => all });

  function crowded(payer: string, networks: readonly string[]): Crowded | undefined {
    const places = limit.current();
    if (byWallet.of(payer) >= Math.max(1, Math.floor(places / WALLETS))) return 'wallet';
    if (shares.isFull(networks)) return 'address';
    return all >= places ? 'all' : undefined;
  }

  function take(payer: string, networks: readonly string[]): Place {
    let isTaken = true;
    count(payer, networks, 1);
    return {
      checked: limit.begin(),
      leave() {
        if (isTaken) count(payer, networks, -1);
        isTaken = false;
      },
    };
  }

  function count(payer: string, networks: readonly string[], by: 1 | -1): void {
    all += by;
    byWallet.add(payer, by);
    shares.count(networks, by);
  }

  function turnAway(full: Crowded): never {
    turnedAway += 1;
    throw tooMany(full);
  }

  const enter: PaymentsInFlight['enter'] = async ({ payer, client }, isDue = async () => false) => {
    const closed = fault?.();
    if (closed !== undefined && !(await isDue('all'))) throw closed;
    const networks = shares.networksOf(client);
    const full = crowded(payer, networks);
    if (full !== undefined && !(await isDue(full))) turnAway(full);
    return take(payer, networks);
  };

  return {
    enter,
    async mustHaveRoom(client, isDue) {
      const full = shares.isFull(shares.networksOf(client)) ? 'address' : 'all';
      const isFull = full === 'address' || all >= limit.current();
      if (isFull && !(await isDue())) turnAway(full);
    },
    async during(by, work, isDue) {
      const place = await enter(by, isDue);
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

const WHOSE = {
  all: 'payments',
  wallet: 'payments of this wallet',
  address: 'payments from this address or its network',
} as const;

function tooMany(full: Crowded): TollhouseError {
  const detail = `Too many ${WHOSE[full]} are under way here at the moment. This one was not looked at and is as good as before: send the same request with the same payment again in ${RETRY_SECONDS} seconds.`;
  return new TollhouseError('too_many_payments', detail, { retryAfterSeconds: RETRY_SECONDS });
}
