// node run-bundled.mjs FOLDER FILE [argument]…
// Runs a TypeScript file of the project, named from its root, against the source. The first process that runs it bundles it into the
// folder, which is below node_modules, where what it imports is found; what comes later starts three times as fast.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, file, ...args] = process.argv.slice(2);
const bundled = join(folder, file.replaceAll('/', '-'));
if (!existsSync(bundled)) {
  const bundler = join(import.meta.dirname, 'bundle-file.mjs');
  execFileSync(process.execPath, [bundler, file, bundled], { stdio: ['ignore', 'ignore', 'inherit'] });
}
process.argv = [process.execPath, file, ...args];
await import(pathToFileURL(join(bundled, 'index.mjs')).href);
