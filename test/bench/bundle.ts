import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';

/** A file that starts at once, however often it is started. */
export interface Bundle {
  readonly file: string;
  remove(): void;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Bundles a TypeScript file of ours.
 * @param name - of the bundle
 * @param entry - from the root of the project
 */
export async function bundle(name: string, entry: string): Promise<Bundle> {
  // Packages are looked for from where it lies.
  const outDir = join(ROOT, `node_modules/.cache/tollhouse-${name}-${process.pid}`);
  await build({
    config: false,
    cwd: ROOT,
    entry: { [name]: entry },
    outDir,
    format: 'esm',
    platform: 'node',
    fixedExtension: false,
    dts: false,
    report: false,
    logLevel: 'error',
  });
  return { file: join(outDir, `${name}.js`), remove: () => rmSync(outDir, { recursive: true, force: true }) };
}
