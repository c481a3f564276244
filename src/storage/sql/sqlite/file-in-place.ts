import { statSync } from 'node:fs';
import { codeOf } from '../driver-error.js';

/** What is written before the next look goes to a file that no start finds. */
const LOOK_MS = 1_000;
/** SQLite keeps these as long as anybody has the file open: what is in the log is nowhere else, and locks are in the other. */
const PARTS = ['', '-wal', '-shm'];

/**
 * Remembers which files a SQLite file that has just been opened is, with those beside it.
 * @returns looks, once a second at most or as seldom as is asked for, which of them is no longer in its place: what is written to one that was moved or deleted is
 * not found by the next start. Undefined where all are; a path that cannot be looked at is taken to be as it was, and on Windows an
 * open file stays where it is. The first look that finds one gone warns, with `TOLLHOUSE_STORE_MOVED`
 */
export function filesInPlace(path: string): (maxAgeMs?: number) => string | undefined {
  const opened = PARTS.map((part) => ({ path: path + part, file: fileAt(path + part) })).filter(({ file }) => file);
  let lookedAt = performance.now();
  let gone: string | undefined;
  return (maxAgeMs = LOOK_MS) => {
    const now = performance.now();
    if (process.platform === 'win32' || now - lookedAt < maxAgeMs) return gone;
    lookedAt = now;
    const before = gone;
    gone = opened.find(({ path: at, file }) => (fileAt(at) ?? file) !== file)?.path;
    if (gone !== undefined && before === undefined) warnOf(gone);
    return gone;
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

function warnOf(path: string): void {
  const detail = `${path} was moved, deleted or replaced while it is open, and a start would not find what is written now: no payment is taken. Put it back, and payments go on; where it is lost, stop this process in order (it closes the storage), restore a backup if the database itself is gone, and start again`;
  process.emitWarning(detail, { code: 'TOLLHOUSE_STORE_MOVED' });
}
