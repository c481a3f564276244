import { stat } from 'node:fs/promises';
import { codeOf } from '../load-driver.js';

/**
 * Remembers which file is at a path.
 * @returns looks whether that one is there still: what is written to one that was moved or deleted is not found by the next start. A
 * path that cannot be looked at is taken to be as it was, and on Windows an open file stays where it is
 */
export async function fileInPlace(path: string): Promise<() => Promise<boolean>> {
  const opened = await fileAt(path);
  return async () => {
    if (opened === undefined || process.platform === 'win32') return true;
    const found = await fileAt(path);
    return found === undefined || found === opened;
  };
}

/** The file in one word, '' where there is none; undefined where that cannot be told. */
async function fileAt(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(codeOf(error)) ? '' : undefined;
  }
}
