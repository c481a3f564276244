import { basename, dirname, join, relative } from 'node:path';

const SAID = 'npx tollhouse';

/**
 * A text that says what to run, with this program as it was started. Texts say `npx tollhouse`, as they are read by those too who
 * start it in another way.
 */
export function asCalled(text: string): string {
  return text.replaceAll(SAID, ownCommand());
}

/**
 * How this program is started, for lines that people paste into another terminal in the same folder. In a clone that is by its file:
 * `npx` would build it first, for half a minute, without a word, and under the server that runs.
 * @param file - that was started. Default: this process's own
 */
export function ownCommand(file: string = process.argv[1] ?? ''): string {
  const path = relative(process.cwd(), file);
  if (path === join('dist', 'cli.js')) return `node ${path}`;
  // A name in PATH is the link that was followed; those in `.bin` are there for npm and npx alone.
  return basename(file) === 'tollhouse' && basename(dirname(file)) !== '.bin' ? 'tollhouse' : SAID;
}
