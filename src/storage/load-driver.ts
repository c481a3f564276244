import { TollhouseError } from '../errors.js';

const MISSING = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/**
 * Loads an optional package when it is first needed.
 * @param name - what to install, as `npm install` takes it
 * @param load - imports it
 * @throws `missing_dependency` when it is not installed
 */
export async function loadDriver<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (!MISSING.has(codeOf(cause))) throw cause;
    const detail = `openStorage needs the optional package "${name}": npm install ${name}`;
    throw new TollhouseError('missing_dependency', detail, { cause });
  }
}

/** The `code` of an error of Node or of a driver; empty when it has none. */
export function codeOf(error: unknown): string {
  return String(Reflect.get(Object(error), 'code') ?? '');
}

/** The message of an error on one line. */
export function lineOf(error: unknown): string {
  const message = error instanceof Error ? error.message || codeOf(error) : String(error);
  return message.replace(/\s+/g, ' ').trim();
}
