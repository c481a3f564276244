import { throwIfStopped } from '../../../lib/work/stopped.js';
import type { RestoredBooks } from './after-restore.js';

/** How a backup is made or restored. */
export interface BackupOptions {
  /** Whether what is there is replaced: the file of an earlier backup; the SQLite file that is restored. Default false. */
  readonly force?: boolean;
  /** Told what is done now. Default: nobody. */
  readonly onStep?: (text: string) => void;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
  /** Stops it: what was made so far is taken away, and it rejects with the signal's reason. Default: nobody does. */
  readonly signal?: AbortSignal;
}

/** What whoever makes or restores a backup goes by. */
export interface BackupWork {
  /** Begins the next step: tells of it, unless the work was stopped meanwhile; then it throws the signal's reason. */
  readonly step: (text: string) => Promise<void>;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** The same, of what somebody has asked for. */
export function backupWork({
  onStep = () => undefined,
  now = Date.now,
  signal = new AbortController().signal,
}: BackupOptions): BackupWork {
  return {
    signal,
    now,
    async step(text) {
      await throwIfStopped(signal);
      onStep(text);
    },
  };
}

/** What was restored. */
export interface Restored extends RestoredBooks {
  /** Where the SQLite file went that stood in its place. */
  readonly setAside?: string;
}
