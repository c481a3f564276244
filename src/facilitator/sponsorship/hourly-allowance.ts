import type { Counters, WindowCount } from '../../storage/counters/counters.js';

/** Lamports that may be spent in an hour; the hour is a fixed one, begun by the first of them. */
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
  /** Where it is counted, in all instances that share the counters. */
  readonly key: string;
  /** Most for an hour, in lamports. */
  readonly limit: number;
  /** Whether the first fee of the hour passes even where it is above the limit. Default false. */
  readonly allowsOne?: boolean;
  readonly counters: Pick<Counters, 'increment'>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Called once in each hour in which the limit is met.
   * @param endsAt - end of the hour, milliseconds since the epoch
   */
  readonly onLimitReached?: (endsAt: number) => void;
}

/** Lamports that were counted in an hour and are not spent yet. */
interface Reserve {
  left: number;
  /** End of the hour by the clock of the counters. */
  readonly resetsAt: number;
  /** End of the hour by ours. */
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
  const { key, limit, allowsOne = false, counters, now, onLimitReached } = parts;
  const portion = Math.max(1, Math.floor(limit / PORTIONS));
  let reserve: Reserve = { left: 0, resetsAt: 0, endsAt: 0 };
  let exhaustedUntil = 0;
  let toldFor = 0;
  let counted = 0;
  let refilling: Promise<void> | undefined;

  async function refill(fee: number): Promise<void> {
    const asked = Math.max(portion, fee - (reserve.endsAt > now() ? reserve.left : 0));
    const { count, resetsAt }: WindowCount = await counters.increment(key, HOUR_MS, asked);
    counted = count;
    const most = allowsOne ? Math.max(limit, fee) : limit;
    const granted = Math.max(0, Math.min(asked, most - (count - asked)));
    const left = (reserve.resetsAt === resetsAt ? reserve.left : 0) + granted;
    const endsAt = Math.max(resetsAt, now() + MIN_REST_MS);
    if (reserve.resetsAt !== resetsAt || reserve.endsAt !== endsAt) reserve = { left, resetsAt, endsAt };
    else reserve.left = left;
    if (left >= fee) return;
    exhaustedUntil = endsAt;
    if (toldFor === resetsAt) return;
    toldFor = resetsAt;
    onLimitReached?.(exhaustedUntil);
  }

  function spend(fee: number): (() => void) | undefined {
    const from = reserve;
    if (from.endsAt <= now() || from.left < fee) return undefined;
    from.left -= fee;
    return () => {
      from.left += fee;
      if (from === reserve) exhaustedUntil = 0;
    };
  }

  const restMs = (): number => Math.max(0, exhaustedUntil - now());

  return {
    restMs,
    spent: () => (reserve.endsAt > now() ? Math.min(limit, Math.max(0, counted - reserve.left)) : 0),
    charge(lamports) {
      reserve.left -= lamports;
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
