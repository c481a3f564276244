import type { MaybePromise } from '../../lib/maybe-promise.js';
import { LAMPORTS_PER_SIGNATURE } from '../../solana/transaction/network-fee.js';
import type { Counters, WindowCount } from '../../storage/counters/counters.js';

/**
 * Lamports that may be spent in an hour; the hour is a fixed one, begun by the first of them. Two counts bound it: that of all
 * instances, which may be lost or out of reach, and that of this process, which is always known.
 */
export interface HourlyAllowance {
  /**
   * Counts what is to be spent. Returns the function that takes it back, or undefined where so much is not left in this
   * hour; then nothing is counted.
   */
  take(lamports: number): MaybePromise<(() => void) | undefined>;
  /** Whether {@link take} would find so much without asking anybody. Counts nothing; false says nothing. */
  hasRoom(lamports: number): boolean;
  /** Counts what was not asked for before, whether there is room or not. */
  charge(lamports: number): void;
  /** What was taken in this hour by all who share the counters, as far as is known here. */
  spent(): number;
  /** How long nothing more is to be had, or not so much, in milliseconds; 0 while there is something. */
  restMs(lamports?: number): number;
}

/** What an allowance works with. */
export interface HourlyAllowanceParts {
  /** What it is counted under, in all instances that share the counters. */
  readonly key: string;
  /** Most for an hour, in lamports. */
  readonly limit: number;
  /** Whether the first fee of the hour passes even where it is above the limit. Default false. */
  readonly allowsOne?: boolean;
  /** Where all instances count together. While they cannot be reached, and where there are none, this process keeps the limit for itself. */
  readonly counters: Pick<Counters, 'increment'> | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Called once in each hour in which the limit is met.
   * @param endsAt - end of the hour, milliseconds since the epoch
   */
  readonly onLimitReached?: (endsAt: number) => void;
}

/** Lamports that were counted in an hour of all instances and are not spent yet. */
interface Reserve {
  left: number;
  /** What all instances had counted by then. */
  counted: number;
  /** End of the hour by the clock of the counters. */
  readonly resetsAt: number;
  /** End of the hour by ours. */
  readonly endsAt: number;
}

/**
 * What this process has spent in an hour, whatever becomes of the count of all. It outlasts hours that the counters begin anew
 * within it: that they have lost theirs gives nobody more.
 */
interface OwnHour {
  spent: number;
  readonly endsAt: number;
}

const HOUR_MS = 3_600_000;
/** The smallest fee that is paid for anybody: of a transaction that its fee payer signs, and one who pays. */
const SMALLEST_FEE = 2 * Number(LAMPORTS_PER_SIGNATURE);
/**
 * So many times at most the shared counters are asked in an hour: they would be the narrowest place of a busy service.
 * Of several instances, each may so leave a hundredth of the limit unused.
 */
const PORTIONS = 100;
/** Where the clock of the counters is behind ours, their hour is not over for us either, and they are asked no more often. */
const MIN_REST_MS = 1_000;

/** Makes an allowance. Nothing is counted before the first fee. */
export function createHourlyAllowance(parts: HourlyAllowanceParts): HourlyAllowance {
  return new CountedHours(parts);
}

class CountedHours implements HourlyAllowance {
  readonly #parts: HourlyAllowanceParts;
  readonly #portion: number;
  #reserve: Reserve = { left: 0, counted: 0, resetsAt: 0, endsAt: 0 };
  #own: OwnHour = { spent: 0, endsAt: 0 };
  #exhaustedUntil = 0;
  #toldFor = 0;
  #refilling: Promise<void> | undefined;

  constructor(parts: HourlyAllowanceParts) {
    this.#parts = parts;
    this.#portion = Math.max(1, Math.floor(parts.limit / PORTIONS));
  }

  restMs(fee = 0): number {
    const time = this.#parts.now();
    const isTooMuch = this.#room(this.#mostWith(fee), time) < fee;
    const until = isTooMuch ? Math.max(this.#exhaustedUntil, this.#endFor(fee, time).endsAt) : this.#exhaustedUntil;
    return Math.max(0, until - time);
  }

  spent(): number {
    const time = this.#parts.now();
    const ofAll = this.#reserve.endsAt > time ? this.#reserve.counted - this.#reserve.left : 0;
    return Math.min(this.#parts.limit, Math.max(0, ofAll, this.#ownSpent(time)));
  }

  charge(lamports: number): void {
    this.#reserve.left -= lamports;
    this.#own = hourAt(this.#own, this.#reserve, this.#parts.now());
    this.#own.spent += lamports;
  }

  hasRoom(lamports: number): boolean {
    return this.restMs() === 0 && this.#isThere(lamports, this.#parts.now());
  }

  take(lamports: number): MaybePromise<(() => void) | undefined> {
    if (this.restMs() > 0) return undefined;
    return this.#spend(lamports) ?? this.#takeRefilled(lamports);
  }

  async #takeRefilled(fee: number): Promise<(() => void) | undefined> {
    while (this.#mayFit(fee)) {
      const giveBack = this.#spend(fee);
      if (giveBack !== undefined) return giveBack;
      this.#refilling ??= this.#refill(fee).finally(() => {
        this.#refilling = undefined;
      });
      await this.#refilling;
    }
    return undefined;
  }

  #spend(fee: number): (() => void) | undefined {
    const time = this.#parts.now();
    if (!this.#isThere(fee, time)) return undefined;
    const from = this.#reserve;
    const hour = hourAt(this.#own, from, time);
    this.#own = hour;
    from.left -= fee;
    hour.spent += fee;
    return () => {
      from.left += fee;
      hour.spent -= fee;
      if (from === this.#reserve || hour === this.#own) this.#exhaustedUntil = 0;
    };
  }

  /** Whether the counters may have so much still. A fee that is too large ends the hour only where no smaller one is left either. */
  #mayFit(fee: number): boolean {
    if (this.restMs() > 0) return false;
    const time = this.#parts.now();
    if (this.#room(this.#mostWith(fee), time) >= fee) return true;
    if (!this.#hasOwnRoom(fee, time)) this.#own = hourAt(this.#own, this.#reserve, time);
    if (this.#room(this.#parts.limit, time) >= SMALLEST_FEE) return false;
    const { endsAt, hour } = this.#endFor(fee, time);
    this.#exhaust(endsAt, hour);
    return false;
  }

  /** The most that may be left, as far as is known here: within an hour the counts of others only rise. */
  #room(most: number, time: number): number {
    const { endsAt, left, counted } = this.#reserve;
    const ofAll = endsAt > time ? left + Math.max(0, most - counted) : most;
    return Math.min(ofAll, most - this.#ownSpent(time));
  }

  /** When a fee may fit again that does not fit now, and what that hour is told apart by. */
  #endFor(fee: number, time: number): { readonly endsAt: number; readonly hour: number } {
    const { endsAt, resetsAt } = this.#reserve;
    return this.#hasOwnRoom(fee, time)
      ? { endsAt, hour: resetsAt }
      : { endsAt: this.#own.endsAt, hour: this.#own.endsAt };
  }

  async #refill(fee: number): Promise<void> {
    const { now } = this.#parts;
    const asked = Math.max(this.#portion, fee - (this.#reserve.endsAt > now() ? this.#reserve.left : 0));
    const shared = await countShared(this.#parts, asked);
    const bounds = { fee, most: this.#mostWith(fee), limit: this.#parts.limit };
    this.#reserve = refilled(this.#reserve, { ...bounds, asked, shared, time: now() });
  }

  #exhaust(endsAt: number, hour: number): void {
    this.#exhaustedUntil = endsAt;
    if (this.#toldFor !== hour) this.#parts.onLimitReached?.(endsAt);
    this.#toldFor = hour;
  }

  #isThere(fee: number, time: number): boolean {
    const { endsAt, left } = this.#reserve;
    return endsAt > time && left >= fee && this.#hasOwnRoom(fee, time);
  }

  #hasOwnRoom(fee: number, time: number): boolean {
    return this.#ownSpent(time) + fee <= this.#mostWith(fee);
  }

  #ownSpent(time: number): number {
    return this.#own.endsAt > time ? this.#own.spent : 0;
  }

  #mostWith(fee: number): number {
    const { limit, allowsOne = false } = this.#parts;
    return allowsOne ? Math.max(limit, fee) : limit;
  }
}

/** An outage of the counters must not stop payments: what they are not told is bounded by what this process has spent. */
async function countShared({ counters, key }: HourlyAllowanceParts, asked: number): Promise<WindowCount | undefined> {
  try {
    return await counters?.increment(key, HOUR_MS, asked);
  } catch {
    return undefined;
  }
}

/** What the counters have said to what was asked for a fee. */
interface Refill {
  readonly fee: number;
  readonly asked: number;
  readonly shared: WindowCount | undefined;
  /** Most for the hour with this fee in it, and without it. */
  readonly most: number;
  readonly limit: number;
  readonly time: number;
}

/** A reserve with what was asked for it, where all together have so much left; what is left of another hour goes. */
function refilled(reserve: Reserve, { fee, asked, shared, most, limit, time }: Refill): Reserve {
  if (shared === undefined) {
    const going = reserve.endsAt > time ? reserve : { left: 0, counted: 0, resetsAt: 0, endsAt: time + HOUR_MS };
    return Object.assign(going, { left: going.left + asked, counted: going.counted + asked });
  }
  const { count, resetsAt } = shared;
  const leftUpTo = (bound: number): number =>
    (reserve.resetsAt === resetsAt ? reserve.left : 0) + Math.max(0, Math.min(asked, bound - (count - asked)));
  // Of a fee that does not fit smaller ones have what is left without it.
  const left = leftUpTo(most) >= fee ? leftUpTo(most) : leftUpTo(limit);
  const endsAt = Math.max(resetsAt, time + MIN_REST_MS);
  if (reserve.resetsAt !== resetsAt || reserve.endsAt !== endsAt) return { left, counted: count, resetsAt, endsAt };
  return Object.assign(reserve, { left, counted: count });
}

/** The hour that it is. A new one ends with that of the counters, so that both begin anew together, unless that cannot be an end. */
function hourAt(own: OwnHour, { resetsAt }: Reserve, time: number): OwnHour {
  if (own.endsAt > time) return own;
  return { spent: 0, endsAt: resetsAt > time ? Math.min(resetsAt, time + HOUR_MS) : time + HOUR_MS };
}
