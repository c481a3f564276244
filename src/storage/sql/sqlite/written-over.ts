import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** Tells whether another file was written into an open one. */
export interface HeaderWatch {
  /** Whether that has been seen. What SQLite writes next may hide it, so that it stays true. */
  isWrittenOver(): boolean;
  /** Call it when SQLite has closed the file, and not before. */
  close(): void;
}

/** A file that SQLite has open in this process, and by how many databases. */
interface OpenFile {
  readonly handle: number;
  users: number;
}

const HEADER = 100;
const MAGIC = Buffer.from('SQLite format 3\0');
/** The versions that write and read it: 2 as long as anybody has it open in WAL mode, and 1 in what `vacuum into` makes. */
const [WRITE_VERSION, READ_VERSION, OF_WAL] = [18, 19, 2];
/** Never goes back, whichever process writes it: an older copy has a lower one. */
const CHANGE_COUNTER = 24;

/**
 * By device and inode. Whoever closes a file loses all POSIX locks of his process on it, those of SQLite as well, without which another
 * process may take the log away: so each is opened once, and closed behind the last database.
 */
const openFiles = new Map<string, OpenFile>();

/** Watches the header of a file that SQLite has open in WAL mode. What cannot be read is taken to be as it was; on Windows nothing is watched. */
export function watchHeader(path: string): HeaderWatch {
  const shared = process.platform === 'win32' ? undefined : share(path);
  if (shared === undefined) return { isWrittenOver: () => false, close: () => undefined };
  const { file, giveBack } = shared;
  let highest = changesOf(file.handle);
  let isOver = false;
  let isClosed = false;
  return {
    isWrittenOver() {
      if (isOver || isClosed || highest === undefined) return isOver;
      const before = highest;
      const isBack = () => (changesOf(file.handle) ?? -1) < before;
      // Twice, as it may be read while SQLite writes it.
      isOver = isBack() && isBack();
      highest = Math.max(before, changesOf(file.handle) ?? before);
      return isOver;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      giveBack();
    },
  };
}

function share(path: string): { readonly file: OpenFile; giveBack(): void } | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    const key = `${dev}:${ino}`;
    const file = openFiles.get(key) ?? { handle: openSync(path, 'r'), users: 0 };
    openFiles.set(key, file);
    file.users += 1;
    return { file, giveBack: () => leave(key, file) };
  } catch {
    return undefined;
  }
}

function leave(key: string, file: OpenFile): void {
  file.users -= 1;
  if (file.users > 0) return;
  openFiles.delete(key);
  closeSync(file.handle);
}

/** How often it was changed; undefined where it is none that SQLite has open in WAL mode. */
function changesOf(handle: number): number | undefined {
  const header = Buffer.alloc(HEADER);
  if (readSync(handle, header, 0, HEADER, 0) < HEADER) return undefined;
  const isOpen = header[WRITE_VERSION] === OF_WAL && header[READ_VERSION] === OF_WAL;
  return isOpen && header.subarray(0, MAGIC.length).equals(MAGIC) ? header.readUInt32BE(CHANGE_COUNTER) : undefined;
}
