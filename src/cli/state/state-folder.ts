import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readSecretFile } from '../../server/configuration/secret-file.js';
import { makeFolder } from '../../storage/sql/make-folder.js';
import { userFolder } from '../user-folder.js';

const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/** Where commands keep what they have to remember: `tollhouse` in `XDG_STATE_HOME`, or in `~/.local/state`. */
export function stateFolder(): string {
  return join(userFolder('XDG_STATE_HOME', '.local/state'), 'tollhouse');
}

/** The text of a file there; undefined where there is none, or it cannot be read. Warns of one that others can read. */
export function readState(name: string): string | undefined {
  const path = join(stateFolder(), name);
  return existsSync(path) ? readSecretFile(path) : undefined;
}

/**
 * Writes a file there that only its owner can read, all at once: another process reads it as it was or as it is.
 * @throws Error of the file system where that is not possible
 */
export function writeState(name: string, text: string): void {
  const path = join(stateFolder(), name);
  const draft = `${path}.${process.pid}`;
  makeFolder(dirname(path), OWNER_ONLY_FOLDER);
  writeFileSync(draft, text, { mode: OWNER_ONLY });
  renameSync(draft, path);
}
