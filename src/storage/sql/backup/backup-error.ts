import { TollhouseError } from '../../../errors/errors.js';

/** The error for a backup that could not be made or restored: what was wrong, and what to do. Nothing has changed then. */
export function backupFailed(detail: string, cause?: unknown): TollhouseError {
  return new TollhouseError('backup_failed', detail, { cause });
}

/** Nothing is restored into books that are there already. @param made - the steps of their schema */
export function refuseBooks(made: readonly string[]): void {
  if (made.length === 0) return;
  throw backupFailed(
    'the database has tables of Tollhouse already; make an empty one (createdb), name it in DATABASE_URL, and take the server there',
  );
}
