import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/**
 * Bytes that packages take in a production install together with all that they need, each package once: their dependencies,
 * the optional ones that are here, and the peers that are not optional.
 *
 * @param from - folder from which they are looked for, upwards
 */
export function installedSize(names: readonly string[], from: string): number {
  const met = new Set<string>();
  for (const name of names) collect(name, from, met);
  return [...met].reduce((sum, folder) => sum + folderSize(folder), 0);
}

/** Names of what a package needs, as npm installs it. */
export function neededBy(folder: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers];
}

/** Bytes of a folder, without the packages in it. */
export function folderSize(folder: string): number {
  let sum = 0;
  for (const name of readdirSync(folder)) {
    if (name === 'node_modules') continue;
    const path = join(folder, name);
    const stat = lstatSync(path);
    sum += stat.isDirectory() ? folderSize(path) : stat.size;
  }
  return sum;
}

function collect(name: string, from: string, met: Set<string>): void {
  const folder = find(name, from);
  // Packages for other systems, and peers that this project does without.
  if (folder === undefined || met.has(folder)) return;
  met.add(folder);
  for (const needed of neededBy(folder)) collect(needed, folder, met);
}

function find(name: string, from: string): string | undefined {
  const folder = join(from, 'node_modules', name);
  if (existsSync(join(folder, 'package.json'))) return realpathSync(folder);
  const above = dirname(from);
  return above === from ? undefined : find(name, above);
}
