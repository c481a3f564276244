import nodeModule from 'node:module';
import { isAbsolute } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { TollhouseError } from '../errors/errors.js';
import { defined } from './defined.js';

/** A package that is loaded only where it is used, and that npm does not install with this one. */
export type OptionalPackage = keyof typeof manifest.peerDependenciesMeta;

const NOT_FOUND = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/** Optional packages were needed and are not installed. */
class MissingPackages extends TollhouseError {
  /** @param by - what needs them, as its user calls it */
  constructor(by: string, names: readonly OptionalPackage[], cause?: unknown) {
    const quoted = names.map((name) => `"${name}"`).join(', ');
    const isSeveral = names.length > 1;
    const detail = `${by} needs the optional package${isSeveral ? 's' : ''} ${quoted}: ${installCommand(names)}`;
    super('missing_dependency', detail, defined({ cause }));
  }
}

/**
 * Loads an optional package when it is first needed. What goes wrong in a package that is there is thrown as it is.
 * @param by - what needs it, as its user calls it
 * @param load - imports it
 * @throws `missing_dependency` when it is not installed
 */
export async function loadOptional<T>(by: string, name: OptionalPackage, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw isNotInstalled(cause, name) ? new MissingPackages(by, [name], cause) : cause;
  }
}

/** Loads an optional package that can be done without: undefined where it is not installed. */
export async function loadIfInstalled<T>(name: OptionalPackage, load: () => Promise<T>): Promise<T | undefined> {
  try {
    return await load();
  } catch (cause) {
    if (isNotInstalled(cause, name)) return undefined;
    throw cause;
  }
}

/**
 * Does what needs several optional packages. Where it stops at one that is missing, the error names all that are, so that one
 * command installs them.
 */
export async function namingAllMissing<T>(
  by: string,
  names: readonly OptionalPackage[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MissingPackages)) throw error;
    const missing = notInstalled(names);
    throw missing.length === 0 ? error : new MissingPackages(by, missing, error.cause);
  }
}

/** Throws `missing_dependency` with all of these packages that are not installed, and the command that installs them. */
export function requireInstalled(by: string, names: readonly OptionalPackage[]): void {
  const missing = notInstalled(names);
  if (missing.length > 0) throw new MissingPackages(by, missing);
}

/** Those of these packages that are not installed. What a bundler has put into its bundle is not, to this. */
export function notInstalled(names: readonly OptionalPackage[]): readonly OptionalPackage[] {
  const { resolve } = requireHere();
  return names.filter((name) => {
    try {
      resolve(name);
      return false;
    } catch {
      return true;
    }
  });
}

/** The Node-API that the later of two ranges side by side is built on; Node has it since 22.14. */
const NODE_API = 10;

/**
 * The range of a package that fits, as `npm install` takes it.
 * @param nodeApi - version of the Node-API, `process.versions.napi`
 */
export function wantedRange(name: OptionalPackage, nodeApi = Number(process.versions.napi)): string {
  const ranges: readonly string[] = manifest.peerDependencies[name].split(' || ');
  const fitting = nodeApi < NODE_API ? ranges[0] : ranges.at(-1);
  return `${name}@${fitting}`;
}

/** `npx` runs from a folder of its own, and from this one where the package is installed here. */
function installCommand(names: readonly OptionalPackage[]): string {
  const isByNpx = /[\\/]_npx[\\/]/.test(whereAmI());
  const onlySandbox = names.every((name) => name === 'litesvm');
  const own = isByNpx ? [manifest.name] : [];
  const flag = onlySandbox && !isByNpx ? ['--save-dev'] : [];
  return ['npm install', ...flag, ...own, ...names.map((name) => wantedRange(name))].join(' ');
}

/**
 * Node's `require` from where this code is. Taken from the default export: a `createRequire` that is imported by its name webpack
 * puts `undefined` in the place of.
 */
export function requireHere(): NodeJS.Require {
  return nodeModule.createRequire(whereAmI());
}

/** The file that this code is in. In `node -e` and the like `__filename` is a global that names no file. */
function whereAmI(): string {
  return typeof __filename === 'string' && isAbsolute(__filename) ? __filename : import.meta.url;
}

/** Whether an error says that this very package was not found, and not one that it needs itself. */
function isNotInstalled(error: unknown, name: string): boolean {
  const { code, message } = Object(error);
  return NOT_FOUND.has(String(code)) && new RegExp(`["'\`]${name}["'\`/]`).test(String(message));
}
