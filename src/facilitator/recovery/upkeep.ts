import { repeat } from '../../lib/repeat.js';
import type { Storage } from '../../storage/storage.js';
import type { PaymentEventBus, Recovered } from '../events/events.js';

/** What {@link startUpkeep} works with. */
export interface UpkeepParts {
  readonly storage: Pick<Storage, 'prune' | 'gateway'>;
  readonly events: Pick<PaymentEventBus, 'emit'>;
  recover(): Promise<Recovered>;
  /** Told of what went wrong; it is tried again. */
  readonly onFault: (error: unknown) => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** While nothing was left half done, that is one look into an index. */
const RECOVER_EVERY_MS = 3_000;
/** What is over is forgotten little by little. */
const PRUNE_EVERY_MS = 60_000;
const PRUNE_STEP = 100;
const DAY_MS = 86_400_000;
/** How long what was not paid is remembered, and what was: the books of a year. */
const RETENTION_MS = DAY_MS;
const BOOKS_RETENTION_MS = 400 * DAY_MS;
/** Longer than the longest schedule of a webhook, and time to recover what was missed. */
const EVENTS_RETENTION_MS = 30 * DAY_MS;

/**
 * Begins what a storage needs without being asked: payments that a dead process left are brought to an end, at once and every
 * few seconds, and what is of no more use is forgotten. Instances that share the storage share the work.
 * @returns ends that; resolves when nothing of it is under way any more
 */
export function startUpkeep({ storage, events, recover, onFault, now }: UpkeepParts): () => Promise<void> {
  const attempt = (work: () => Promise<void>) => () => work().catch(onFault);
  const recovering = repeat(
    RECOVER_EVERY_MS,
    attempt(async () => {
      const found = await recover();
      if (found.settled + found.failed + found.expired > 0) events.emit('payments.recovered', found);
    }),
  );
  const pruning = repeat(
    PRUNE_EVERY_MS,
    attempt(() => prune(storage, now())),
  );
  recovering.run();
  return async () => void (await Promise.all([recovering.stop(), pruning.stop()]));
}

async function prune(storage: UpkeepParts['storage'], time: number): Promise<void> {
  await storage.prune(time - RETENTION_MS, PRUNE_STEP, time - BOOKS_RETENTION_MS);
  await storage.gateway.prune(time - EVENTS_RETENTION_MS, PRUNE_STEP, time - BOOKS_RETENTION_MS);
}
