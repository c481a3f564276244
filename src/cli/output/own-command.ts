import { join, relative } from 'node:path';

/**
 * How this program is started, for lines that people paste into another terminal in the same folder. In a clone that is by its file:
 * `npx` would build it first, for half a minute, without a word, and under the server that runs.
 * @param file - that was started. Default: this process's own
 */
export function ownCommand(file: string = process.argv[1] ?? ''): string {
  const path = relative(process.cwd(), file);
  return path === join('dist', 'cli.js') ? `node ${path}` : 'npx tollhouse';
}
