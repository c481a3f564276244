import { TollhouseError } from '../../../errors/errors.js';
import { requireHere, wantedRange } from '../../../lib/optional-packages.js';
import { codeOf, loadDriver } from '../load-driver.js';
import type { SqliteDriver } from './sqlite-driver.js';

/** Loads better-sqlite3. Throws `missing_dependency` when it is not installed, or not one that this Node survives. */
export async function loadBetterSqlite3(): Promise<SqliteDriver> {
  const nodeApi = Number(process.versions.napi);
  const { default: Database } = await loadDriver('better-sqlite3', () => import('better-sqlite3'));
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

/** The error for a driver whose compiled part is not there or was made for another Node; undefined for any other error. */
function brokenDriver(cause: unknown): TollhouseError | undefined {
  const isBroken = codeOf(cause) === 'ERR_DLOPEN_FAILED' || /bindings file/.test(String(cause));
  if (!isBroken) return undefined;
  const detail = `openStorage: better-sqlite3 is not compiled for Node ${process.versions.node}; npm rebuild better-sqlite3`;
  return new TollhouseError('missing_dependency', detail, { cause });
}

/** The module itself loads no native code and does not tell its version; its manifest does. */
function driverVersion(): string {
  const manifest: unknown = requireHere()('better-sqlite3/package.json');
  return String(Reflect.get(Object(manifest), 'version'));
}
