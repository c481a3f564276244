import { createInterface } from 'node:readline';
import { until } from '../until.js';
import { runFile } from './run-file.js';

/** A server in a process of its own that tells on its output what happens in it. */
export interface ListeningProcess {
  readonly pid: number;
  readonly port: number;
  /** What it told so far, a line each; those of its standard error begin with `stderr`. */
  readonly told: readonly string[];
  /** Ends it with SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts a file that prints `listening` and its port; a test fails in which it ends unasked. */
export async function startListening(file: string, env: Readonly<Record<string, string>>): Promise<ListeningProcess> {
  const child = runFile(file, [], env);
  if (child.stdout === null || child.stderr === null) throw new Error(`${file} has no output`);
  const told: string[] = [];
  let over = false;
  createInterface({ input: child.stdout }).on('line', (line) => told.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => told.push(`stderr ${line}`));
  const port = () => told.find((it) => it.startsWith('listening '))?.slice('listening '.length);
  const unasked = () =>
    new Error(`${file} ended by itself (${child.exitCode ?? child.signalCode}):\n${told.join('\n')}`);
  child.once('close', () => {
    over = true;
    if (port() !== undefined && !child.killed) throw unasked();
  });
  await until(() => over || port() !== undefined);
  if (port() === undefined) throw unasked();
  return {
    pid: Number(child.pid),
    port: Number(port()),
    told,
    async kill() {
      child.kill('SIGKILL');
      await until(() => over);
    },
  };
}
