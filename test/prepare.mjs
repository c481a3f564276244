// Run by `npm ci` and `npm install` in a clone: what takes the longest of it, at the same time. SQLite is compiled on one processor.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const npm = process.env.npm_execpath;
if (npm === undefined) throw new Error('npm runs this: npm run prepare');
console.error(
  'tollhouse: building the clone for npm (npm ci, npm install, npx tollhouse): a minute, or several on a busy machine',
);
const cwd = fileURLToPath(new URL('..', import.meta.url));
const parts = [['test/better-sqlite3/install.mjs'], [npm, 'run', 'build']];
const ends = parts.map((part) => once(spawn(process.execPath, part, { cwd, stdio: 'inherit' }), 'exit'));
const failed = (await Promise.all(ends)).filter(([code]) => code !== 0);
process.exitCode = failed.length > 0 ? 1 : 0;
