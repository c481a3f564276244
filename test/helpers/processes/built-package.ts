import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../../..');

/** Builds the package, without types, into a new folder below node_modules: packages are found there that it imports. */
export async function buildPackage(): Promise<string> {
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'tollhouse-built-'));
  const tsdown = join(ROOT, 'node_modules/tsdown/dist/run.mjs');
  await promisify(execFile)(
    process.execPath,
    [tsdown, '--config', '.tsdown.config.ts', '--out-dir', folder, '--no-dts'],
    { cwd: ROOT },
  );
  return folder;
}
