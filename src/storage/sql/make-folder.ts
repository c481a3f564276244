import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './driver-error.js';

/**
 * Makes a folder, and those above it, where there is none. Node's own way of making several waits for ever in a folder that says of
 * whatever is made in it that it is not there, as `/proc` does.
 * @param mode - of the folders that are made. Default: as the process has it
 * @throws the error of the file system
 */
export function makeFolder(path: string, mode?: number): void {
  try {
    return makeOne(path, mode);
  } catch (error) {
    const above = dirname(path);
    if (codeOf(error) !== 'ENOENT' || above === path) throw error;
    makeFolder(above, mode);
  }
  makeOne(path, mode);
}

function makeOne(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // A folder that is there may be one in which nothing can be made, and then that is what the file system says.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
