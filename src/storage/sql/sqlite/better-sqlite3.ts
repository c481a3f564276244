import type BetterSqlite3 from 'better-sqlite3';
import { TollhouseError } from '../../../errors/errors.js';
import { requireHere, wantedRange, whyNotLoaded } from '../../../lib/optional-packages.js';
import { codeOf } from '../driver-error.js';
import type { SqliteDriver } from './sqlite-driver.js';

/** Loads better-sqlite3. Throws `missing_dependency` when it is not installed, or not one that this Node survives. */
export async function loadBetterSqlite3(): Promise<SqliteDriver> {
  const nodeApi = Number(process.versions.napi);
  const Database = await loadDatabase();
  const fault = driverFault(driverVersion(), nodeApi);
  if (fault !== undefined) throw new TollhouseError('missing_dependency', fault);
  return {
    open(file, { readonly = false, timeoutMs }) {
      try {
        return new Database(file, { readonly, timeout: timeoutMs }).defaultSafeIntegers();
      } catch (cause) {
        throw brokenDriver(cause) ?? cause;
      }
    },
  };
}

async function loadDatabase(): Promise<typeof BetterSqlite3> {
  try {
    return (await import('better-sqlite3')).default;
  } catch (cause) {
    throw whyNotLoaded('openStorage', 'better-sqlite3', cause);
  }
}

/**
 * What is wrong with a driver for a Node; undefined when nothing is.
 * @param driver - version of better-sqlite3
 * @param nodeApi - version of the Node-API, `process.versions.napi`
 */
export function driverFault(driver: string, nodeApi: number): string | undefined {
  // 13 is built on the Node-API 10, and ends the process without any error where that is not.
  const isDeadly = Number.parseInt(driver, 10) >= 13 && nodeApi < 10;
  if (!isDeadly) return undefined;
  return `openStorage: better-sqlite3 ${driver} crashes the process on Node ${process.versions.node}; npm install ${wantedRange('better-sqlite3', nodeApi)}`;
}

/** What a driver says that does not find its compiled part: where there is none, and from within a bundle. */
const NO_COMPILED_PART = /bindings file|module root|__filename is not defined/;

/** The error for a driver whose compiled part is not found or was made for another Node; undefined for any other error. */
export function brokenDriver(cause: unknown): TollhouseError | undefined {
  const isBroken = codeOf(cause) === 'ERR_DLOPEN_FAILED' || NO_COMPILED_PART.test(String(cause));
  if (!isBroken) return undefined;
  const detail = `openStorage: better-sqlite3 is not compiled for Node ${process.versions.node}; npm rebuild better-sqlite3; or it was put into a bundle: mark it external`;
  return new TollhouseError('missing_dependency', detail, { cause });
}

/** The module itself loads no native code and does not tell its version; its manifest does, which a bundle may be without: then empty. */
function driverVersion(): string {
  try {
    const manifest: unknown = requireHere()('better-sqlite3/package.json');
    return String(Reflect.get(Object(manifest), 'version'));
  } catch {
    return '';
  }
}
