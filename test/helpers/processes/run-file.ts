import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const RUNNER = join(__dirname, 'run-bundled.mjs');

/** What a decoder of spl-token says where it was not compiled; "tollhouse" holds it back, and a bundle of its source cannot. */
const WITHOUT_COMPILER = /^bigint: Failed to load bindings.*\n/m;

const running = new Set<ChildProcess>();

/** How a process ended, and all that it printed. */
export interface Ended {
  readonly code: number | null;
  readonly text: string;
}

/**
 * Runs a TypeScript file of the project in a process of its own, against the source.
 * @param stdout - an open file that is its standard output; default a pipe
 */
export function runFile(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdout: number | 'pipe' = 'pipe',
): ChildProcess {
  // One folder for the whole run.
  const bundles = process.env['TEST_BUNDLES'];
  if (bundles === undefined)
    throw new Error('TEST_BUNDLES is not set: test/jest/bundles.cjs sets it for a run of jest');
  const child = spawn(process.execPath, [RUNNER, bundles, file, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['pipe', stdout, 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Runs `tollhouse` to its end. */
export function tollhouse(...args: readonly string[]): Promise<Ended> {
  return endOf(runFile('src/cli/main.ts', args));
}

/** Waits for the end of a process. */
export async function endOf(child: ChildProcess): Promise<Ended> {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += String(chunk);
    });
  }
  const [code] = await once(child, 'close');
  return { code, text: text.replace(WITHOUT_COMPILER, '') };
}

/** Ends every process that is still running, with those that it has started. */
export function stopFiles(): void {
  for (const child of running) {
    // Its group has its number, as it was started detached.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    child.kill('SIGKILL');
  }
}
