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
  take(lamports: number): Promise<(() => void) | undefined>;
  /** Counts what was not asked for before, whether there is room or not. */
  charge(lamports: number): void;
  /** What was taken in this hour by all who share the counters, as far as is known here. */
  spent(): number;
  /** How long nothing more is to be had, in milliseconds; 0 while there is something. */
  restMs(): number;
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
/**
 * So many times at most the shared counters are asked in an hour: they would be the narrowest place of a busy service.
 * Of several instances, each may so leave a hundredth of the limit unused.
 */
const PORTIONS = 100;
/** Where the clock of the counters is behind ours, their hour is not over for us either, and they are asked no more often. */
const MIN_REST_MS = 1_000;

/** Makes an allowance. Nothing is counted before the first fee. */
export function createHourlyAllowance(parts: HourlyAllowanceParts): HourlyAllowance {
  const { limit, allowsOne = false, now, onLimitReached } = parts;
  const portion = Math.max(1, Math.floor(limit / PORTIONS));
  const mostWith = (fee: number): number => (allowsOne ? Math.max(limit, fee) : limit);
  let reserve: Reserve = { left: 0, counted: 0, resetsAt: 0, endsAt: 0 };
  let own: OwnHour = { spent: 0, endsAt: 0 };
  let [exhaustedUntil, toldFor] = [0, 0];
  let refilling: Promise<void> | undefined;

  const ownSpent = (): number => (own.endsAt > now() ? own.spent : 0);
  const hasOwnRoom = (fee: number): boolean => ownSpent() + fee <= mostWith(fee);

  function exhaust(endsAt: number, hour: number): void {
    exhaustedUntil = endsAt;
    if (toldFor !== hour) onLimitReached?.(endsAt);
    toldFor = hour;
  }

  async function refill(fee: number): Promise<void> {
    if (!hasOwnRoom(fee)) {
      own = hourAt(own, reserve, now());
      return exhaust(own.endsAt, own.endsAt);
    }
    const asked = Math.max(portion, fee - (reserve.endsAt > now() ? reserve.left : 0));
    const shared = await countShared(parts, asked);
    reserve = refilled(reserve, { asked, shared, most: mostWith(fee), time: now() });
    if (reserve.left < fee) exhaust(reserve.endsAt, reserve.resetsAt);
  }

  function spend(fee: number): (() => void) | undefined {
    const from = reserve;
    if (from.endsAt <= now() || from.left < fee || !hasOwnRoom(fee)) return undefined;
    own = hourAt(own, from, now());
    const hour = own;
    from.left -= fee;
    hour.spent += fee;
    return () => {
      from.left += fee;
      hour.spent -= fee;
      if (from === reserve || hour === own) exhaustedUntil = 0;
    };
  }

  const restMs = (): number => Math.max(0, exhaustedUntil - now());

  return {
    restMs,
    spent() {
      const ofAll = reserve.endsAt > now() ? reserve.counted - reserve.left : 0;
      return Math.min(limit, Math.max(0, ofAll, ownSpent()));
    },
    charge(lamports) {
      reserve.left -= lamports;
      own = hourAt(own, reserve, now());
      own.spent += lamports;
    },
    async take(lamports) {
      while (restMs() === 0) {
        const giveBack = spend(lamports);
        if (giveBack !== undefined) return giveBack;
        refilling ??= refill(lamports).finally(() => {
          refilling = undefined;
        });
        await refilling;
      }
      return undefined;
    },
  };
}

/** An outage of the counters must not stop payments: what they are not told is bounded by what this process has spent. */
async function countShared({ counters, key }: HourlyAllowanceParts, asked: number): Promise<WindowCount | undefined> {
  try {
    return await counters?.increment(key, HOUR_MS, asked);
  } catch {
    return undefined;
  }
}

/** A reserve with what was asked for it, where all together have so much left; what is left of another hour goes. */
function refilled(
  reserve: Reserve,
  { asked, shared, most, time }: { asked: number; shared: WindowCount | undefined; most: number; time: number },
): Reserve {
  if (shared === undefined) {
    const going = reserve.endsAt > time ? reserve : { left: 0, counted: 0, resetsAt: 0, endsAt: time + HOUR_MS };
    return Object.assign(going, { left: going.left + asked, counted: going.counted + asked });
  }
  const { count, resetsAt } = shared;
  const granted = Math.max(0, Math.min(asked, most - (count - asked)));
  const left = (reserve.resetsAt === resetsAt ? reserve.left : 0) + granted;
  const endsAt = Math.max(resetsAt, time + MIN_REST_MS);
  if (reserve.resetsAt !== resetsAt || reserve.endsAt !== endsAt) return { left, counted: count, resetsAt, endsAt };
  return Object.assign(reserve, { left, counted: count });
}

/** The hour that it is. A new one ends with that of the counters, so that both begin anew together, unless that cannot be an end. */
function hourAt(own: OwnHour, { resetsAt }: Reserve, time: number): OwnHour {
  if (own.endsAt > time) return own;
  return { spent: 0, endsAt: resetsAt > time ? Math.min(resetsAt, time + HOUR_MS) : time + HOUR_MS };
}
