// node bundle-file.mjs FILE FOLDER
// Bundles a TypeScript file of the project with all that is the project's own; what is of packages stays there.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '../../..');
const PACKAGE = /^(?:@[^/]+\/)?[^./#@\0][^/]*/;

const [file, folder] = process.argv.slice(2);
const unfinished = `${folder}.${process.pid}`;
const bundle = await rolldown({
  input: join(ROOT, file),
  platform: 'node',
  tsconfig: join(ROOT, 'tsconfig.json'),
  external: isOfPackage,
});
await bundle.write({ dir: unfinished, format: 'esm', entryFileNames: 'index.mjs', keepNames: true });
await bundle.close();
try {
  renameSync(unfinished, folder);
} catch (error) {
  // Another process was faster.
  if (!existsSync(folder)) throw error;
  rmSync(unfinished, { recursive: true });
}

function isOfPackage(id) {
  const [name] = PACKAGE.exec(id) ?? [];
  return isBuiltin(id) || (name !== undefined && existsSync(join(ROOT, 'node_modules', name)));
}
