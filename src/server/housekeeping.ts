import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import type { Storage } from '../storage/storage.js';
import type { ServerLogger } from './logger.js';
import { watchBalance } from './watch-balance.js';

/** What the server looks after by itself. */
export interface HousekeepingParts {
  readonly facilitator: Pick<EmbeddedFacilitator, 'health' | 'recover'>;
  readonly storage: Pick<Storage, 'prune' | 'counters' | 'gateway'>;
  readonly logger: ServerLogger;
}

/** So often the server looks after itself, in milliseconds: gates must learn of an outage though nobody asks for `/health`. */
const HEALTH_EVERY_MS = 10_000;
/** So often it looks for payments that somebody left half done. While there are none, that is one look into an index. */
const RECOVER_EVERY_MS = 3_000;
/** How long what was not paid is remembered, and what was: the books of a year. They are forgotten little by little. */
const RETENTION_MS = 86_400_000;
const BOOKS_RETENTION_MS = 400 * RETENTION_MS;
/** Longer than the longest schedule of a webhook, and time to recover what was missed. */
const EVENTS_RETENTION_MS = 30 * RETENTION_MS;
const PRUNE_EVERY_MS = 60_000;
const PRUNE_STEP = 100;

/**
 * Begins what a server does without being asked: it finishes the payments that a dead instance left, forgets what is over,
 * and watches its own health.
 * @returns ends that; resolves when nothing of it is under way any more
 */
export function startHousekeeping({ facilitator, storage, logger }: HousekeepingParts): () => Promise<void> {
  const attempt = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      logger.warn({ reason: error instanceof Error ? error.message : String(error) }, `${what} failed`);
    }
  };
  const recovering = repeat(RECOVER_EVERY_MS, () => attempt('recovery', () => recover(facilitator, logger)));
  const pruning = repeat(PRUNE_EVERY_MS, () => attempt('pruning', () => prune(storage)));
  const looking = repeat(HEALTH_EVERY_MS, () =>
    attempt('looking after itself', () => look(facilitator, storage, logger)),
  );
  recovering.run();
  return async () => void (await Promise.all([recovering.stop(), pruning.stop(), looking.stop()]));
}

async function recover(facilitator: HousekeepingParts['facilitator'], logger: ServerLogger): Promise<void> {
  const { open, ...ended } = await facilitator.recover();
  if (Object.values(ended).some((count) => count > 0)) logger.info({ ...ended, open }, 'payments recovered');
}

async function look(
  facilitator: HousekeepingParts['facilitator'],
  { counters, gateway }: HousekeepingParts['storage'],
  logger: ServerLogger,
): Promise<void> {
  const health = await facilitator.health();
  const isTold = await watchBalance(health, { counters, events: gateway.events, now: Date.now });
  if (isTold) logger.warn({ wallet: health.wallet, lamports: String(health.lamports) }, 'the fee payer is running dry');
}

/** Forgets a few payments that were over long ago; what is left waits for the next time. */
async function prune(storage: HousekeepingParts['storage']): Promise<void> {
  const time = Date.now();
  await storage.prune(time - RETENTION_MS, PRUNE_STEP, time - BOOKS_RETENTION_MS);
  await storage.gateway.prune(time - EVENTS_RETENTION_MS, PRUNE_STEP, time - BOOKS_RETENTION_MS);
}

/** Does something from time to time, never twice at once. */
function repeat(everyMs: number, work: () => Promise<void>) {
  let running: Promise<void> | undefined;
  const run = (): void => {
    running ??= work().finally(() => {
      running = undefined;
    });
  };
  const timer = setInterval(run, everyMs).unref();
  return {
    run,
    async stop(): Promise<void> {
      clearInterval(timer);
      await running;
    },
  };
}
