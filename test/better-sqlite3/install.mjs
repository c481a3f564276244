// Run by `npm ci` and `npm install` in a clone: brings better-sqlite3 to a Node that has no SQLite of its own, from a lock beside
// this file. No dev dependency, for npm would install and compile one and the same version on every Node.
import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const place = join(here, '../../node_modules/better-sqlite3');
const require = createRequire(import.meta.url);
// 13 needs no compiler, and crashes where Node has an older Node-API.
const major = Number(process.versions.napi) < 10 ? '12' : '13';

if (Number.parseInt(process.versions.node, 10) < 24 && !isThere()) install();

function isThere() {
  try {
    if (!require(join(place, 'package.json')).version.startsWith(`${major}.`)) return false;
    new (require(place))(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

function install() {
  const npm = process.env.npm_execpath;
  if (npm === undefined) throw new Error('npm runs this: npm run prepare');
  const folder = join(here, major);
  console.log(
    `Installing SQLite for Node ${process.versions.node}; where it has to be compiled that takes a minute or more.`,
  );
  const flags = ['--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync(process.execPath, [npm, 'ci', '--prefix', folder, ...flags], { stdio: 'inherit' });
  rmSync(place, { recursive: true, force: true });
  symlinkSync(join(folder, 'node_modules/better-sqlite3'), place, 'junction');
}
