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

/** Keeps paid calls of a project within what its upstream bears. What was refused before it was paid is its caller's. */
export interface CallLimits {
  /**
   * Before money is taken: throws `rate_limited` where the project is known to have no room now for a caller. Uses nothing up.
   * @param owner - wallet of the caller's key, base58
   */
  requireRoom(project: LimitedProject, owner: string): void;
  /**
   * Lets a call in that is paid; answers the function that ends it. Rejects with `rate_limited` above the project's calls a
   * second, which all instances count together (`few-trips.ts`), or its calls at once, which each counts by itself: at most half of them are of
   * one wallet.
   */
  enter(project: LimitedProject, owner: string): Promise<() => void>;
}

const SECOND_MS = 1_000;

/** Of so many projects it is remembered that their second is used up. */
const MAX_REMEMBERED = 10_000;
const TOO_MANY = 'has as many calls under way as it takes at once';
const TOO_MANY_OF_ONE = 'has as many calls of your wallet under way as it takes of one wallet at once';
const TOO_FAST = 'gets more calls a second than it takes';

/** Makes the limits of a gateway's calls. While the counters cannot be reached, calls pass. */
export function createCallLimits({ counters, scale = 1, now }: CallLimitsParts): CallLimits {
  const underWay = new Map<string, number>();
  const countCall = countFewTrips({ counters, windowMs: SECOND_MS, now });
  const usedUpUntil = boundedCache<string, number>({ max: MAX_REMEMBERED });

  function add(id: string, change: 1 | -1): void {
    const count = (underWay.get(id) ?? 0) + change;
    if (count === 0) underWay.delete(id);
    else underWay.set(id, count);
  }

  async function isTooFast({ id, limits }: LimitedProject): Promise<boolean> {
    try {
      const most = limits.perSecond * scale;
      const { count, resetsAt } = await countCall(`calls:${id}`, most);
      if (count >= most) usedUpUntil.set(id, resetsAt);
      return count > most;
    } catch {
      return false;
    }
  }

  function requireSlot({ id, limits }: LimitedProject, owner: string): void {
    const most = limits.concurrent * scale;
    if ((underWay.get(id) ?? 0) >= most) throw busy(TOO_MANY);
    if ((underWay.get(ofOne(id, owner)) ?? 0) >= Math.ceil(most / 2)) throw busy(TOO_MANY_OF_ONE);
  }

  return {
    requireRoom(project, owner) {
      requireSlot(project, owner);
      if (now() < (usedUpUntil.get(project.id) ?? 0)) throw busy(TOO_FAST);
    },
    async enter(project, owner) {
      const counted = [project.id, ofOne(project.id, owner)];
      const leave = () => {
        for (const it of counted) add(it, -1);
      };
      requireSlot(project, owner);
      for (const it of counted) add(it, 1);
      if (await isTooFast(project)) {
        leave();
        throw busy(TOO_FAST);
      }
      return leave;
    },
  };
}

/** What is counted of one wallet's calls. */
function ofOne(projectId: string, owner: string): string {
  return `${projectId} ${owner}`;
}

function busy(what: string): TollhouseError {
  const detail = `This project ${what}; send the same request again in a moment, a payment stays good.`;
  return new TollhouseError('rate_limited', detail, { retryAfterSeconds: 1 });
}
