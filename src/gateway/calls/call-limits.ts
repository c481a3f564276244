import { TollhouseError } from '../../errors/errors.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import type { Counters } from '../../storage/counters/counters.js';
import { countFewTrips } from '../../storage/counters/few-trips.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';

/** What {@link createCallLimits} works with. */
export interface CallLimitsParts {
  readonly counters: Pick<Counters, 'increment'>;
  /** Multiplies every limit. Default 1. */
  readonly scale?: number | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

type LimitedProject = Pick<ProjectRecord, 'id' | 'limits'>;

/**
 * What a call brings for its price: a payment of its own; what was paid before and stays with its caller where it is not charged, a pass or
 * credit; or nothing, as it costs nothing.
 */
export type CallMeans = 'payment' | 'paid_before' | 'nothing';

/**
 * Keeps calls of a project within what its upstream bears. What was refused before it was paid is its caller's. Half of the room is for
 * calls that cost nothing, and of that a wallet has half of what the others leave; the last eighth is for calls that bring a payment, for
 * whatever brings none can be sent without end.
 */
export interface CallLimits {
  /**
   * Before money is taken: throws `rate_limited` where the project is known to have no room now for a caller. Uses nothing up.
   * @param owner - wallet of the caller's key, base58
   */
  requireRoom(project: LimitedProject, owner: string): void;
  /**
   * Lets a call in whose body is here; answers the function that ends it. Rejects with `rate_limited` above the project's calls a
   * second, which all instances count together (`few-trips.ts`), or its calls at once, which each counts by itself: at most half of them are of
   * one wallet.
   * @param means - what it brings
   */
  enter(project: LimitedProject, owner: string, means: CallMeans): Promise<() => void>;
}

/** A part of what a project takes, at once or in a second. */
interface Room {
  /** Before the name of what is counted there. */
  readonly space: string;
  /** How much of a limit it is. */
  readonly shareOf: (limit: number) => number;
  /** How much of that one wallet has at once, where the others have so much. */
  readonly atOnce: (share: number, others: number) => number;
  /** The same within a second. Default: all. */
  readonly inSecond?: (share: number, others: number) => number;
  /** What it is a room of. */
  readonly calls: string;
}

/** Where a second stands in this process. */
interface Second {
  /** When it is over, milliseconds since the epoch: as of what all instances count together, once that is known. */
  endsAt: number;
  /** Whether nothing is left of it. */
  isUsedUp: boolean;
  /** What was let in, by the name of what is counted. */
  readonly counts: Map<string, number>;
}

const SECOND_MS = 1_000;

/** Of so many projects it is remembered where their second stands. */
const MAX_REMEMBERED = 10_000;

const halfOfTheRest = (share: number, others: number): number => Math.ceil((share - others) / 2);
const ALL: Room = {
  space: 'calls',
  shareOf: (limit) => limit,
  atOnce: (share) => Math.ceil(share / 2),
  calls: 'calls',
};
const WITHOUT_PAYMENT: Room = {
  space: 'calls-without-payment',
  shareOf: (limit) => limit - Math.floor(limit / 8),
  atOnce: (share) => share,
  calls: 'calls that bring no payment',
};
const FREE: Room = {
  space: 'calls-free',
  shareOf: (limit) => Math.max(1, Math.floor(limit / 2)),
  atOnce: halfOfTheRest,
  inSecond: halfOfTheRest,
  calls: 'calls that cost nothing',
};

/** Where a call needs room, the smallest first: what is refused there uses up nothing of the others. */
const ROOMS: Readonly<Record<CallMeans, readonly Room[]>> = {
  payment: [ALL],
  paid_before: [WITHOUT_PAYMENT, ALL],
  nothing: [FREE, WITHOUT_PAYMENT, ALL],
};

/** Makes the limits of a gateway's calls. While the counters cannot be reached, calls pass. */
export function createCallLimits({ counters, scale = 1, now }: CallLimitsParts): CallLimits {
  const underWay = new Map<string, number>();
  const countCall = countFewTrips({ counters, windowMs: SECOND_MS, now });
  const seconds = boundedCache<string, Second>({ max: MAX_REMEMBERED });

  function secondOf(id: string): Second {
    const known = seconds.get(id);
    if (known !== undefined && now() < known.endsAt) return known;
    const begun: Second = { endsAt: now() + SECOND_MS, isUsedUp: false, counts: new Map() };
    seconds.set(id, begun);
    return begun;
  }

  function requireSlot({ id, limits }: LimitedProject, owner: string, rooms: readonly Room[]): void {
    for (const { space, shareOf, atOnce, calls } of rooms) {
      const share = shareOf(limits.concurrent * scale);
      const { all, own } = countsIn(underWay, space, id, owner);
      if (all >= share) throw busy(`has as many ${calls} under way as it takes at once`);
      if (own >= atOnce(share, all - own))
        throw busy(`has as many ${calls} of your wallet under way as it takes of one wallet at once`);
    }
  }

  /** What the others share is looked at in this process: it is the same second as that of all calls. */
  function isBeyondShare({ id, limits }: LimitedProject, owner: string, rooms: readonly Room[]): boolean {
    const { counts } = secondOf(id);
    return rooms.some(({ space, shareOf, inSecond = (share) => share }) => {
      const share = shareOf(limits.perSecond * scale);
      const { all, own } = countsIn(counts, space, id, owner);
      return all >= share || own >= inSecond(share, all - own);
    });
  }

  async function isTooFast(project: LimitedProject, owner: string, rooms: readonly Room[]): Promise<boolean> {
    const { id, limits } = project;
    if (isBeyondShare(project, owner, rooms)) return true;
    const second = secondOf(id);
    change(second.counts, rooms, id, owner, 1);
    try {
      for (const { space, shareOf } of rooms) {
        const share = shareOf(limits.perSecond * scale);
        const { count, resetsAt } = await countCall(`${space}:${id}`, share);
        if (space === ALL.space) Object.assign(second, { endsAt: resetsAt, isUsedUp: count >= share });
        if (count > share) return true;
      }
    } catch {
      // Calls pass.
    }
    return false;
  }

  return {
    requireRoom(project, owner) {
      requireSlot(project, owner, ROOMS.payment);
      if (secondOf(project.id).isUsedUp) throw busy(TOO_FAST);
    },
    async enter(project, owner, means) {
      const rooms = ROOMS[means];
      requireSlot(project, owner, rooms);
      change(underWay, rooms, project.id, owner, 1);
      const leave = () => change(underWay, rooms, project.id, owner, -1);
      if (await isTooFast(project, owner, rooms)) {
        leave();
        throw busy(means === 'nothing' ? TOO_FAST_FREE : TOO_FAST);
      }
      return leave;
    },
  };
}

const TOO_FAST = 'gets more calls a second than it takes';
const TOO_FAST_FREE = 'gets more calls that cost nothing a second than it takes, of your wallet or of all';

type Counts = Map<string, number>;

function countsIn(counts: Counts, space: string, id: string, owner: string): { all: number; own: number } {
  return { all: counts.get(`${space} ${id}`) ?? 0, own: counts.get(`${space} ${id} ${owner}`) ?? 0 };
}

/** Counts a call in or out, of all and of its wallet. */
function change(counts: Counts, rooms: readonly Room[], id: string, owner: string, by: 1 | -1): void {
  for (const name of rooms.flatMap(({ space }) => [`${space} ${id}`, `${space} ${id} ${owner}`])) {
    const count = (counts.get(name) ?? 0) + by;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  }
}

function busy(what: string): TollhouseError {
  const detail = `This project ${what}; send the same request again in a moment, a payment stays good.`;
  return new TollhouseError('rate_limited', detail, { retryAfterSeconds: 1 });
}
