import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readSecretFile } from '../../server/configuration/secret-file.js';
import { userFolder } from '../user-folder.js';
import { writeOwn } from './write-own.js';

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
 * Writes a file there, as {@link writeOwn} does.
 * @throws SystemError where that is not possible
 */
export function writeState(name: string, text: string): void {
  writeOwn(join(stateFolder(), name), text, 'put that right, or name a folder that can be written in XDG_STATE_HOME');
}
