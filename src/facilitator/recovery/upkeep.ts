import { repeat } from '../../lib/work/work-loop.js';
import type { Storage } from '../../storage/storage.js';
import type { PaymentEventBus, Recovered } from '../events/events.js';
import type { HealthMonitor } from '../setup/health.js';
import { LOOK_EVERY_MS } from './interrupted.js';
import { pruneAll } from './pruning.js';

/** What {@link startUpkeep} works with. */
export interface UpkeepParts {
  readonly storage: Pick<Storage, 'prune' | 'gateway'>;
  readonly events: Pick<PaymentEventBus, 'emit'>;
  recover(): Promise<Recovered>;
  /** Goes on with refunds that were left alone. Default: there are none. */
  readonly goOn?: (() => Promise<void>) | undefined;
  /** Looks at payment requests that nobody asks for. Default: nobody does. */
  readonly lookAfterRequests?: (() => Promise<void>) | undefined;
  /** Told of what went wrong; it is tried again. */
  readonly onFault: (error: unknown) => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Tells whether that clock is right, by the chain's. */
  readonly monitor: Pick<HealthMonitor, 'isClockRight'>;
  /** How often what was left half done is looked for. Default: {@link LOOK_EVERY_MS} */
  readonly lookMs?: number | undefined;
  /** How often what is over is forgotten. Default: once a minute */
  readonly pruneMs?: number | undefined;
}

const PRUNE_EVERY_MS = 60_000;

/**
 * Begins what a storage needs without being asked: payments that a dead process left are brought to an end, at once and every
 * few seconds, and what is of no more use is forgotten while the clock is right. Instances that share the storage share the work.
 * @returns ends that; resolves when nothing of it is under way any more
 */
export function startUpkeep(parts: UpkeepParts): () => Promise<void> {
  const { storage, events, recover, goOn, lookAfterRequests, onFault, now, monitor } = parts;
  const { lookMs = LOOK_EVERY_MS, pruneMs = PRUNE_EVERY_MS } = parts;
  const stop = new AbortController();
  const attempt = (work: () => Promise<void>) => () => work().catch(onFault);
  const recovering = repeat(
    lookMs,
    attempt(async () => {
      const found = await recover();
      if (found.settled + found.failed + found.expired > 0) events.emit('payments.recovered', found);
    }),
  );
  const refunding = goOn && repeat(lookMs, attempt(goOn));
  const looking = lookAfterRequests && repeat(lookMs, attempt(lookAfterRequests));
  const pruning = repeat(
    pruneMs,
    attempt(async () => void (await pruneAll({ storage, now, ...monitor, stopped: stop.signal }))),
  );
  recovering.run();
  refunding?.run();
  looking?.run();
  return async () => {
    stop.abort();
    await Promise.all([recovering.stop(), refunding?.stop(), looking?.stop(), pruning.stop()]);
  };
}
