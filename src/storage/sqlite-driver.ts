import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';
import { TollhouseError } from '../errors.js';
import { codeOf, loadDriver } from './load-driver.js';

type Version = readonly [major: number, minor: number];

/** Pairs of driver and Node that end the process with no error at all (libraries.md). */
const DEADLY = [
  { driver: 12, isDeadly: ([major, minor]: Version) => major > 24 || (major === 24 && minor >= 19), instead: '13' },
  { driver: 13, isDeadly: ([major]: Version) => major < 22, instead: '12.11.1' },
];

/** Loads better-sqlite3. Throws `missing_dependency` when it is not installed, or not one that this Node survives. */
export async function loadSqliteDriver(): Promise<typeof BetterSqlite3> {
  const driver = await loadDriver('better-sqlite3', () => import('better-sqlite3'));
  const fault = driverFault(driverVersion(), process.versions.node);
  if (fault !== undefined) throw new TollhouseError('missing_dependency', fault);
  return driver.default;
}

/**
 * What is wrong with a pair of versions; undefined when nothing is.
 * @param driver - version of better-sqlite3
 * @param node - version of Node, without the `v`
 */
export function driverFault(driver: string, node: string): string | undefined {
  const [major] = versionOf(driver);
  const pair = DEADLY.find((it) => it.driver === major && it.isDeadly(versionOf(node)));
  if (pair === undefined) return undefined;
  return (
    `openStorage: better-sqlite3 ${driver} crashes the process on Node ${node}; ` +
    `npm install better-sqlite3@${pair.instead}`
  );
}

/** The error for a driver whose compiled part is not there or was made for another Node; undefined for any other error. */
export function brokenDriver(cause: unknown): TollhouseError | undefined {
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

function versionOf(text: string): Version {
  const [major = 0, minor = 0] = text.split('.').map(Number);
  return [major, minor];
}
