// npm run soak -- [--minutes <n>] [--seed <n>] [--database sqlite|postgres|both] [--out <file>]
import { writeFileSync } from 'node:fs';
import { install } from 'undici';
import { stopContestants } from '../bench/contestant.js';
import { readSoakOptions, type SoakOptions, USAGE } from './options.js';
import { toMarkdown } from './report.js';
import { soak } from './soak.js';

const SOAK_FAILED = 2;

const options = read();
const stop = new AbortController();
process.on('SIGINT', () => {
  // Whoever asks twice does not want to wait.
  if (stop.signal.aborted) process.exit(SOAK_FAILED);
  tell('stopping: checks and report follow; once more to leave at once');
  stop.abort();
});

process.once('exit', stopContestants);
// Until the report is there: a process that has nothing left to wait for ends as if all were well.
process.exitCode = SOAK_FAILED;
const begun = Date.now();
const databases = options.databases.join(', ');
tell(`soak of ${options.minutes} minutes on ${databases}; --seed ${options.seed}`);
try {
  // Node's own `fetch` and this package's connections do not go together: half of what kit sends is refused.
  install();
  const result = await soak(options, stop.signal, tell);
  const markdown = toMarkdown(result);
  console.log(markdown);
  if (options.out !== undefined) writeFileSync(options.out, markdown);
  process.exit(result.findings.broken.length === 0 ? 0 : 1);
} catch (error) {
  tell(`the soak could not run: ${error instanceof Error ? error.stack : String(error)}`);
  process.exit(SOAK_FAILED);
}

function read(): SoakOptions {
  try {
    return readSoakOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`soak: ${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return process.exit(SOAK_FAILED);
  }
}

function tell(line: string): void {
  console.error(`${((Date.now() - begun) / 1000).toFixed(0).padStart(5)} s  ${line}`);
}
