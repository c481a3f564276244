import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { runFile, stopFiles, tollhouse } from '../helpers/run-file.js';

const FOLDER = join(__dirname, '../../examples');
const EXAMPLES = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'));

afterEach(stopFiles);

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
  expect(EXAMPLES.length).toBeGreaterThanOrEqual(7);
});

test.each(EXAMPLES)('%s says how to run it, runs, and is paid by the line it prints', async (name) => {
  expect(readFileSync(join(FOLDER, name), 'utf8')).toContain(`npx unrun examples/${name}`);
  const line = await lineToPaste(runFile(`examples/${name}`, [], { PORT: '0' }));
  const { code, text } = await tollhouse(...line.replaceAll('"', '').split(' ').slice(2));
  expect(text).toContain('settled');
  expect(text).toContain('answered   200');
  expect(code).toBe(0);
});
