import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomHex } from '../../lib/ids.js';
import { makeFolder } from '../../storage/sql/make-folder.js';
import { stateFolder } from './state-folder.js';

const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const VERSION = /^(\d{1,15})\.json$/;
/** So many others may be faster. */
const MOST_TRIES = 1_000;

/** What is written next, and what is answered then. */
export interface StateChange<T> {
  readonly text: string;
  readonly result: T;
}

/** The newest text that {@link changeState} has written; undefined where there is none. */
export function readChanged(name: string): string | undefined {
  return newestOf(join(stateFolder(), name)).text;
}

/**
 * Changes a text in the state folder, however many processes do so at once: each change is made of the one before, and none is lost.
 * Every version is a file of its own, and the one who makes the next number first has made it; nothing is locked, and so nothing
 * stays locked when a process is killed.
 * @param name - of a folder in the state folder, for this text alone
 * @param change - what to make of it, undefined where there is none yet. It may be asked several times, and with what it has written
 * itself; what it throws is thrown, and nothing is written
 * @throws Error of the file system where that is not possible
 */
export function changeState<T>(name: string, change: (text: string | undefined) => StateChange<T>): T {
  const folder = join(stateFolder(), name);
  makeFolder(folder, OWNER_ONLY_FOLDER);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { version, text } = newestOf(folder);
    const changed = change(text);
    if (changed.text === text) return changed.result;
    if (!publish(folder, version + 1, changed.text)) continue;
    // The one before stays, so that whoever lists the folder meanwhile finds one of the two.
    for (const old of versionsIn(folder)) if (old < version) rmSync(fileOf(folder, old), { force: true });
    return changed.result;
  }
  throw new Error(`too many others write to ${folder} at once`);
}

function publish(folder: string, version: number, text: string): boolean {
  const draft = join(folder, `${randomHex(8)}.draft`);
  const path = fileOf(folder, version);
  writeFileSync(draft, text, { mode: OWNER_ONLY, flag: 'wx' });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
  const [newest = version] = versionsIn(folder);
  if (newest === version) return true;
  // Others were so much faster that the number was free again, or they have gone on from here: asking again tells which.
  rmSync(path, { force: true });
  return false;
}

/** A version that goes while it is looked for is not the newest any more. */
function newestOf(folder: string): { readonly version: number; readonly text: string | undefined } {
  for (;;) {
    const [version] = versionsIn(folder);
    if (version === undefined) return { version: 0, text: undefined };
    try {
      return { version, text: readFileSync(fileOf(folder, version), 'utf8') };
    } catch (error) {
      if (Reflect.get(Object(error), 'code') !== 'ENOENT') throw error;
    }
  }
}

/** The newest first. */
function versionsIn(folder: string): readonly number[] {
  const names = namesIn(folder).flatMap((name) => VERSION.exec(name)?.[1] ?? []);
  return names.map(Number).sort((one, other) => other - one);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 'ENOENT') return [];
    throw error;
  }
}

function fileOf(folder: string, version: number): string {
  return join(folder, `${version}.json`);
}
