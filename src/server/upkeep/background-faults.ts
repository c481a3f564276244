import { boundedCache } from '../../lib/bounded-cache.js';
import { wholeError } from '../../lib/error-text.js';
import type { ServerLogger } from '../logger.js';

const TOLD = 'work in the background failed, and is tried again';
const QUIET_MS = 60_000;
const MAX_REASONS = 100;

/**
 * Makes what tells of work in the background that has failed and is tried again: each reason once in a minute, as in an outage several
 * parts of the server try every few seconds.
 */
export function tellsOfFaults(logger: Pick<ServerLogger, 'warn'>): (error: unknown) => void {
  const told = boundedCache<string, true>({ max: MAX_REASONS, ttl: QUIET_MS });
  return (error) => {
    const reason = wholeError(error);
    if (told.has(reason)) return;
    told.set(reason, true);
    logger.warn({ reason }, TOLD);
  };
}
