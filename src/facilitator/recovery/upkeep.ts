import { repeat } from '../../lib/work-loop.js';
import type { Storage } from '../../storage/storage.js';
import type { PaymentEventBus, Recovered } from '../events/events.js';
import { pruneAll } from './pruning.js';

/** What {@link startUpkeep} works with. */
export interface UpkeepParts {
  readonly storage: Pick<Storage, 'prune' | 'gateway'>;
  readonly events: Pick<PaymentEventBus, 'emit'>;
  recover(): Promise<Recovered>;
  /** Goes on with refunds that were left alone. Default: there are none. */
  readonly goOn?: (() => Promise<void>) | undefined;
  /** Told of what went wrong; it is tried again. */
  readonly onFault: (error: unknown) => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** While nothing was left half done, that is one look into an index. */
const RECOVER_EVERY_MS = 3_000;
/** What is over is forgotten once a minute, all of it. */
const PRUNE_EVERY_MS = 60_000;

/**
 * Begins what a storage needs without being asked: payments that a dead process left are brought to an end, at once and every
 * few seconds, and what is of no more use is forgotten. Instances that share the storage share the work.
 * @returns ends that; resolves when nothing of it is under way any more
 */
export function startUpkeep({ storage, events, recover, goOn, onFault, now }: UpkeepParts): () => Promise<void> {
  const stop = new AbortController();
  const attempt = (work: () => Promise<void>) => () => work().catch(onFault);
  const recovering = repeat(
    RECOVER_EVERY_MS,
    attempt(async () => {
      const found = await recover();
      if (found.settled + found.failed + found.expired > 0) events.emit('payments.recovered', found);
    }),
  );
  const refunding = goOn && repeat(RECOVER_EVERY_MS, attempt(goOn));
  const pruning = repeat(
    PRUNE_EVERY_MS,
    attempt(async () => void (await pruneAll({ storage, now, stopped: stop.signal }))),
  );
  recovering.run();
  refunding?.run();
  return async () => {
    stop.abort();
    await Promise.all([recovering.stop(), refunding?.stop(), pruning.stop()]);
  };
}
