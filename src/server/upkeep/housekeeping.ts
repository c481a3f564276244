import type { Networks } from '../../facilitator/networks/networks.js';
import type { Facilitator } from '../../facilitator/types.js';
import { readinessOf } from '../../http/service/readiness.js';
import { wholeError } from '../../lib/error-text.js';
import { repeat } from '../../lib/work/work-loop.js';
import type { Storage } from '../../storage/storage.js';
import type { ServerLogger } from '../logger.js';
import { watchBalance } from './watch-balance.js';
import { watchReadiness } from './watch-readiness.js';

/** What the server looks after by itself. */
export interface HousekeepingParts {
  readonly networks: Networks;
  readonly storage: Pick<Storage, 'counters' | 'gateway'>;
  readonly logger: ServerLogger;
}

/** So often the server looks after itself, in milliseconds: gates must learn of an outage though nobody asks for `/health`. */
const HEALTH_EVERY_MS = 10_000;

/**
 * Begins what a server does without being asked: it watches its own health.
 * @returns ends that; resolves when nothing of it is under way any more
 */
export function startHousekeeping({ networks, storage, logger }: HousekeepingParts): () => Promise<void> {
  // Whoever asks later is told since when something has been wrong.
  const readiness = readinessOf({ networks, counters: storage.counters });
  const lookAtParts = watchReadiness(readiness, logger, Date.now);
  const lookAtAll = async (): Promise<void> => {
    await Promise.all([lookAtParts(), ...networks.all.map((it) => look(it, storage, logger))]);
  };
  const looking = repeat(HEALTH_EVERY_MS, () =>
    lookAtAll().catch((error: unknown) => {
      const reason = wholeError(error);
      logger.warn({ reason }, 'looking after itself failed');
    }),
  );
  return looking.stop;
}

async function look(
  { network, health: lookAt }: Facilitator,
  { counters, gateway }: HousekeepingParts['storage'],
  logger: ServerLogger,
): Promise<void> {
  const health = await lookAt();
  const isTold = await watchBalance(health, { network, counters, events: gateway.events, now: Date.now });
  if (isTold)
    logger.warn({ network, wallet: health.wallet, lamports: String(health.lamports) }, 'the fee payer is running dry');
}
