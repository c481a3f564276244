import type { RestoredBooks } from './after-restore.js';

/** How a backup is made or restored. */
export interface BackupOptions {
  /** Whether what is there is replaced: the file of an earlier backup; the SQLite file that is restored. Default false. */
  readonly force?: boolean;
  /** Told what is done now. Default: nobody. */
  readonly onStep?: (text: string) => void;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
}

/** What was restored. */
export interface Restored extends RestoredBooks {
  /** Where the SQLite file went that stood in its place. */
  readonly setAside?: string;
}
