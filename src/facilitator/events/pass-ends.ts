import { repeat } from '../../lib/work/work-loop.js';
import type { Pass, PassEnds, PassStore } from '../../storage/passes/pass-store.js';
import { type PassEvent, passEvent } from './event-records.js';
import type { PaymentEventBus } from './events.js';

/** What {@link tellPassEnds} works with. */
export interface PassEndParts {
  readonly passes: Pick<PassStore, 'tellEnds'>;
  readonly events: PaymentEventBus;
  /** Told of what went wrong; it is tried again. Default: nobody. */
  readonly onFault?: (error: unknown) => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** While nothing has ended, that is one look into an index. */
const LOOK_EVERY_MS = 3_000;
const ENDS: PassEnds = { usedUpForMs: 30_000, limit: 100 };

/**
 * Begins to tell of passes that are used up or over, at once and every few seconds. Nothing of it is done by the requests that use
 * them, and instances that share the store share the work.
 * @returns ends that; resolves when nothing of it is under way any more
 */
function startPassEnds({ passes, events, onFault = () => {}, now }: PassEndParts): () => Promise<void> {
  let isStopped = false;
  const look = async (): Promise<void> => {
    for (let isMore = true; isMore && !isStopped; ) {
      const told = await passes.tellEnds(ENDS, (pass) => passEvent(endOf(pass), pass, now()));
      for (const pass of told) events.emit(endOf(pass), { pass });
      isMore = told.length === ENDS.limit;
    }
  };
  const looking = repeat(LOOK_EVERY_MS, () => look().catch(onFault));
  looking.run();
  return async () => {
    isStopped = true;
    await looking.stop();
  };
}

/**
 * The same for a facilitator: at once where passes outlive processes, and from the first one on that it sells where they are kept in
 * memory, which all facilitators of a process share.
 */
export function tellPassEnds(parts: PassEndParts, outlivesProcess: boolean): () => Promise<void> {
  if (outlivesProcess) return startPassEnds(parts);
  let stop: (() => Promise<void>) | undefined;
  const forget = parts.events.on('pass.created', () => {
    stop ??= startPassEnds(parts);
  });
  return async () => {
    forget();
    await stop?.();
  };
}

function endOf({ left }: Pass): Exclude<PassEvent, 'pass.created'> {
  return left === 0n ? 'pass.used_up' : 'pass.expired';
}
