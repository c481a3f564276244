import { TollhouseError } from '../../errors/errors.js';
import type { Counters } from '../../storage/counters/counters.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';

/** What {@link createCallLimits} works with. */
export interface CallLimitsParts {
  readonly counters: Pick<Counters, 'increment'>;
  /** Multiplies every limit. Default 1. */
  readonly scale?: number | undefined;
}

/** Keeps calls of a project within what its upstream bears. */
export interface CallLimits {
  /**
   * Lets a call in; answers the function that ends it. Rejects with `rate_limited` above the project's calls a second, which
   * all instances count together, or its calls at once, which each counts by itself.
   */
  enter(project: Pick<ProjectRecord, 'id' | 'limits'>): Promise<() => void>;
}

const SECOND_MS = 1_000;

/** Makes the limits of a gateway's calls. While the counters cannot be reached, calls pass. */
export function createCallLimits({ counters, scale = 1 }: CallLimitsParts): CallLimits {
  const underWay = new Map<string, number>();

  function leave(id: string): void {
    const others = (underWay.get(id) ?? 1) - 1;
    if (others === 0) underWay.delete(id);
    else underWay.set(id, others);
  }

  async function isTooFast({ id, limits }: Pick<ProjectRecord, 'id' | 'limits'>): Promise<boolean> {
    try {
      return (await counters.increment(`calls:${id}`, SECOND_MS)).count > limits.perSecond * scale;
    } catch {
      return false;
    }
  }

  return {
    async enter(project) {
      const { id, limits } = project;
      const others = underWay.get(id) ?? 0;
      if (others >= limits.concurrent * scale) throw busy('has as many calls under way as it takes at once');
      underWay.set(id, others + 1);
      if (await isTooFast(project)) {
        leave(id);
        throw busy('gets more calls a second than it takes');
      }
      return () => leave(id);
    },
  };
}

function busy(what: string): TollhouseError {
  return new TollhouseError('rate_limited', `This project ${what}; try again in a moment.`, { retryAfterSeconds: 1 });
}
