import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../../storage/sql/driver-error.js';
import { makeFolder } from '../../storage/sql/make-folder.js';
import { SystemError } from '../command.js';
import { fileFault } from '../output/system-words.js';

const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/**
 * Writes a file that only its owner can read, all at once: another process reads it as it was or as it is, and it is as it was where
 * that is not possible.
 * @param advice - what to do where it cannot be written
 * @throws SystemError with the file, why it cannot be written, and the advice
 */
export function writeOwn(path: string, text: string, advice: string): void {
  const draft = `${path}.${process.pid}`;
  try {
    makeFolder(dirname(path), OWNER_ONLY_FOLDER);
    writeFileSync(draft, text, { mode: OWNER_ONLY });
    renameSync(draft, path);
  } catch (error) {
    discard(draft);
    throw new SystemError(
      codeOf(error),
      `"${path}" cannot be written (${fileFault(error)}), and is as it was; ${advice}`,
    );
  }
}

/** Half of a secret is one too. Where even that cannot be removed, what went wrong first is what is told. */
function discard(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // What is in the way of it is told already.
  }
}
