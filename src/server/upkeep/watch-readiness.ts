import type { Readiness, TimedPart } from '../../http/service/readiness.js';
import type { PartName } from '../../http/service/readiness-parts.js';
import type { ServerLogger } from '../logger.js';

/** What nothing else tells of, and what is to be done about it. */
const ADVICE: Partial<Record<PartName, string>> = {
  store: 'make room on its disk, or start it; payments go on by themselves when it takes writes again',
  disk: 'make room on it, or give it a larger one',
  counters: 'start it, or make room on its disk; payments go on by themselves when it answers again',
  limits: 'start it: nothing is limited meanwhile',
};
const MOVED =
  'put the file that was opened back where DATABASE_URL names it, and payments go on by themselves; where it is lost, restore a backup and start again';
const REFUSED = 'all goes on by itself when it takes what it is asked again';
const AGAIN_AFTER_MS = 3_600_000;

/**
 * Writes a line to the log when what payments depend on fails, each hour as long as that lasts, and when it is well again.
 * @param now - clock, milliseconds since the epoch
 * @returns looks once
 */
export function watchReadiness(readiness: Readiness, logger: ServerLogger, now: () => number): () => Promise<void> {
  const told = new Map<PartName, { readonly reason: string; readonly at: number }>();
  function tell({ part, state, reason, since, check }: TimedPart): void {
    const [before, advice] = [told.get(part), adviceFor(part, check)];
    if (advice === undefined || state === 'unknown') return;
    if (reason === undefined) {
      if (told.delete(part)) logger.info({ part }, 'what had failed is well again');
      return;
    }
    if (before?.reason === reason && now() - before.at < AGAIN_AFTER_MS) return;
    told.set(part, { reason, at: now() });
    const fields = { part, state, since: new Date(since).toISOString() };
    if (state === 'failed') logger.error(fields, `${reason}: ${advice}`);
    else logger.warn(fields, `${reason}: ${advice}`);
  }
  return async () => {
    const { parts } = await readiness.look();
    for (const part of parts) tell(part);
  };
}

function adviceFor(part: PartName, check: TimedPart['check']): string | undefined {
  if (check?.[1] === 'moved') return MOVED;
  return check?.[1] === 'refused' ? REFUSED : ADVICE[part];
}
