import { openSync, writeSync } from 'node:fs';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { startServer } from '../../../src/server/start-server.js';
import type { ContestantParts } from '../contestant.js';

interface Settings {
  /** What it is told by environment variables. */
  readonly env: Readonly<Record<string, string>>;
}

/** The server as `tollhouse serve` starts it. Its log is written, and read by nobody. */
export async function start({ env }: Settings): Promise<ContestantParts> {
  const nowhere = openSync('/dev/null', 'w');
  const { url } = await startServer(readConfiguration({ PORT: '0', ...env }), {
    write: (line) => writeSync(nowhere, line),
  });
  return { url, asks: { memory: () => process.memoryUsage().rss } };
}
