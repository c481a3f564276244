import { statSync } from 'node:fs';
import { codeOf } from '../driver-error.js';
import { watchHeader } from './written-over.js';

/** Which files a database is. */
export interface FilesInPlace {
  /**
   * Looks, once a second at most or as seldom as is asked for, which of them is no longer what was opened; undefined where all are. The
   * first look that finds one warns, with `TOLLHOUSE_STORE_MOVED`.
   */
  gone(maxAgeMs?: number): string | undefined;
  /** Call it when SQLite has closed them, and not before. */
  close(): void;
}

/** What is written before the next look goes to a file that no start finds. */
const LOOK_MS = 1_000;
/** SQLite keeps these as long as anybody has the file open: what is in the log is nowhere else, and locks are in the other. */
const PARTS = ['', '-wal', '-shm'];

const MOVED =
  'was moved, deleted or replaced while it is open, and a start would not find what is written now: no payment is taken. Put it back, and payments go on; where it is lost, stop this process in order (it closes the storage), restore a backup if the database itself is gone, and start again';
const WRITTEN_OVER =
  'was overwritten with another file, such as a backup, while it is open, and what is in it now is neither of the two: no payment is taken. Stop every process that has it open, delete it and the files beside it with -wal and -shm at their end, restore a backup with "npx tollhouse db restore", and start again';

/**
 * Remembers which files a SQLite file that has just been opened is, with those beside it: what is written to one that was moved or deleted is
 * not found by the next start, and one that another was copied over is of two halves from then on. A path that cannot be looked at is taken
 * to be as it was, and on Windows an open file stays where it is.
 */
export function filesInPlace(path: string): FilesInPlace {
  const header = watchHeader(path);
  const opened = PARTS.map((part) => ({ path: path + part, file: fileAt(path + part) })).filter(({ file }) => file);
  let lookedAt = performance.now();
  let gone: string | undefined;
  function look(): string | undefined {
    const moved = opened.find(({ path: at, file }) => (fileAt(at) ?? file) !== file)?.path;
    const isOver = header.isWrittenOver();
    const found = isOver ? path : moved;
    if (found !== undefined && gone === undefined) warnOf(found, isOver ? WRITTEN_OVER : MOVED);
    return found;
  }

  return {
    gone(maxAgeMs = LOOK_MS) {
      const now = performance.now();
      if (process.platform === 'win32' || now - lookedAt < maxAgeMs) return gone;
      lookedAt = now;
      gone = look();
      return gone;
    },
    close: header.close,
  };
}

/** The file in one word, '' where there is none; undefined where that cannot be told. */
function fileAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(codeOf(error)) ? '' : undefined;
  }
}

function warnOf(path: string, what: string): void {
  process.emitWarning(`${path} ${what}`, { code: 'TOLLHOUSE_STORE_MOVED' });
}
