import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(__dirname, '../..');
const EXAMPLES = readdirSync(join(ROOT, 'examples')).filter((name) => name.endsWith('.ts'));

const running: ChildProcess[] = [];

afterEach(() => {
  for (const { pid } of running.splice(0)) if (pid !== undefined) killGroup(pid);
});

/** The runner starts the file in a process of its own, which must go with it. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'ESRCH') throw error;
  }
}

/** Runs a TypeScript file of the project, against the source. */
function run(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const bin = join(ROOT, 'node_modules/unrun/dist/cli.mjs');
  const child = spawn(process.execPath, [bin, file, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    detached: true,
  });
  running.push(child);
  return child;
}

async function outputOf(child: ChildProcess): Promise<{ readonly code: number | null; readonly text: string }> {
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    text += chunk;
  });
  const [code] = await once(child, 'exit');
  return { code, text };
}

/** The line that an example prints to be pasted. */
async function lineToPaste(child: ChildProcess): Promise<string> {
  let complaint = '';
  child.stderr?.on('data', (chunk) => {
    complaint += chunk;
  });
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  for await (const line of lines) if (line.startsWith('npx tollhouse pay ')) return line;
  throw new Error(`the example ended without printing the line that pays: ${complaint}`);
}

test('there are examples', () => {
  expect(EXAMPLES.length).toBeGreaterThanOrEqual(4);
});

test.each(EXAMPLES)('%s says how to run it, runs, and is paid by the line it prints', async (name) => {
  const source = readFileSync(join(ROOT, 'examples', name), 'utf8');
  expect(source).toContain(`npx unrun examples/${name}`);
  const example = run(`examples/${name}`, [], { PORT: '0' });
  const line = await lineToPaste(example);
  const args = line.replaceAll('"', '').split(' ').slice(2);
  const { code, text } = await outputOf(run('src/cli/main.ts', args));
  expect(text).toContain('settled');
  expect(text).toContain('answered   200');
  expect(code).toBe(0);
});
