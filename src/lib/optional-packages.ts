import nodeModule from 'node:module';
import { isAbsolute } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { TollhouseError } from '../errors/errors.js';
import { defined } from './defined.js';

/** A package that is loaded only where it is used, and that npm does not install with this one. */
export type OptionalPackage = keyof typeof manifest.peerDependenciesMeta;

const NOT_FOUND = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/** What Vite puts in the place of an optional package that it does not find. */
const NOT_BUNDLED = /^Could not resolve .* Is it installed\?$/;

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
 * What to throw where the `import()` of an optional package failed: `missing_dependency` when it is not installed, and what went
 * wrong in a package that is there as it is. The `import()` stands in a `try` of its own function, and nowhere deeper: only there
 * esbuild and webpack leave out what they do not find, instead of failing.
 * @param by - what needs it, as its user calls it
 */
export function whyNotLoaded(by: string, name: OptionalPackage, cause: unknown): unknown {
  return isNotInstalled(cause, name) ? new MissingPackages(by, [name], cause) : cause;
}

/** Like {@link whyNotLoaded}, for a package that can be done without: undefined when it is not installed, and throws all else. */
export function doWithout(name: OptionalPackage, cause: unknown): undefined {
  if (!isNotInstalled(cause, name)) throw cause;
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

/**
 * The file that this code is in. In `node -e` and the like `__filename` is a global that names no file. It is tried and not looked for by
 * `typeof`, which webpack answers with `string` for modules that have none.
 */
function whereAmI(): string {
  try {
    if (isAbsolute(__filename)) return __filename;
  } catch {
    // An ES module.
  }
  return import.meta.url;
}

/** Whether an error says that this very package was not found, and not one that it needs itself. */
function isNotInstalled(error: unknown, name: string): boolean {
  const { code, message } = Object(error);
  const isNotFound = NOT_FOUND.has(String(code)) || NOT_BUNDLED.test(String(message));
  return isNotFound && new RegExp(`["'\`]${name}["'\`/]`).test(String(message));
}
