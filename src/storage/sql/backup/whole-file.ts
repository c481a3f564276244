import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { throwIfStopped } from '../../../lib/work/stopped.js';

/** Who may read it: books hold secrets of webhooks and upstreams. */
const OWNER_ONLY = 0o600;

/** How a file is made whole. */
export interface WholeFile {
  /** Who may read it, less what the process's umask takes away. Default: its owner only. */
  readonly mode?: number;
  /** Stops it, before it gets its name: it rejects with the signal's reason then. Default: nobody does. */
  readonly signal?: AbortSignal;
  /** What is done just before it gets its name, when nobody can stop it any more. Default: nothing. */
  readonly onWhole?: () => Promise<void>;
}

/**
 * Makes a file that is there as a whole or not at all, whatever happens meanwhile: it is written under another name beside it, is on
 * the disk, and gets its name then.
 * @param write - fills the file of the name that it is given, which is there and empty
 */
export async function writeWhole(
  file: string,
  write: (part: string) => Promise<void>,
  { mode = OWNER_ONLY, signal, onWhole }: WholeFile = {},
): Promise<void> {
  const part = join(dirname(file), `.${basename(file)}.${randomUUID()}.part`);
  try {
    await (await open(part, 'wx', mode)).close();
    await write(part);
    await onDisk(part);
    if (signal !== undefined) await throwIfStopped(signal);
    await onWhole?.();
    await rename(part, file);
    await onDisk(dirname(file));
  } catch (error) {
    throw ofFile(error, part, file);
  } finally {
    // SQLite may have put some beside it.
    for (const end of ['', '-wal', '-shm', '-journal']) await rm(`${part}${end}`, { force: true });
  }
}

/** The name beside it is nothing that anybody has asked for. */
function ofFile(error: unknown, part: string, file: string): unknown {
  if (Reflect.get(Object(error), 'path') !== part) return error;
  const message = String(Reflect.get(Object(error), 'message')).replaceAll(part, file);
  return Object.assign(Object(error), { message, path: file });
}

async function onDisk(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** How a file begins, as text of one byte a letter; empty where there is none. */
export async function beginningOf(path: string, length: number): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}
