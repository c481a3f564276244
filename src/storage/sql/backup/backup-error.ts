import { TollhouseError } from '../../../errors/errors.js';

/** The error for a backup that could not be made or restored: what was wrong, and what to do. Nothing has changed then. */
export function backupFailed(detail: string, cause?: unknown): TollhouseError {
  return new TollhouseError('backup_failed', detail, { cause });
}
