import { createRequire } from 'node:module';
import { TollhouseError } from '../errors.js';
import { codeOf, loadDriver } from './load-driver.js';
import type { SqliteDriver } from './sqlite-driver.js';

/** The Node-API that 13 is built on; Node has it since 22.14. */
const NODE_API = 10;

/** Loads better-sqlite3. Throws `missing_dependency` when it is not installed, or not one that this Node survives. */
export async function loadBetterSqlite3(): Promise<SqliteDriver> {
  const nodeApi = Number(process.versions.napi);
  const { default: Database } = await loadDriver(fitting(nodeApi), () => import('better-sqlite3'));
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
  // It ends the process without any error.
  const isDeadly = Number.parseInt(driver, 10) >= 13 && nodeApi < NODE_API;
  if (!isDeadly) return undefined;
  return `openStorage: better-sqlite3 ${driver} crashes the process on Node ${process.versions.node}; npm install ${fitting(nodeApi)}`;
}

/** What to install: 13 wherever it runs, for it needs no compiler. */
function fitting(nodeApi: number): string {
  return nodeApi < NODE_API ? 'better-sqlite3@12' : 'better-sqlite3@13';
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
  const here = typeof __filename === 'string' ? __filename : import.meta.url;
  const manifest: unknown = createRequire(here)('better-sqlite3/package.json');
  return String(Reflect.get(Object(manifest), 'version'));
}
