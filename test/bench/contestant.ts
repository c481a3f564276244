import { type ChildProcess, fork } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Bundle, bundle } from './bundle.js';

/** What goes between the processes of the bench. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [name: string]: Json };

/** What a file in `contestants/` makes with its `start`: a server, and what can be asked of it beside HTTP. */
export interface ContestantParts {
  /** Where it listens. */
  readonly url: string;
  readonly asks?: Readonly<Record<string, (argument: Json) => unknown>>;
}

/** A server that is measured, in a process of its own. */
export interface Contestant {
  readonly url: string;
  /** Processor time of its process so far, user and system, in milliseconds. */
  cpu(): Promise<number>;
  /** Asks what its file answers; rejects with the fault that it met. */
  ask<T = unknown>(name: string, argument?: Json): Promise<T>;
  stop(): Promise<void>;
  /** Sends a signal, and resolves when the process is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

interface Reply {
  readonly id?: number;
  readonly ready?: string;
  readonly value?: unknown;
  readonly fault?: string;
}

const PROCESS = fileURLToPath(new URL('./contestant-process.mjs', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const running = new Set<ChildProcess>();
/** A contestant is started many times. */
const bundles = new Map<string, Promise<Bundle>>();
const removals = new Set<() => void>();

/**
 * Starts a contestant.
 *
 * @param name - of the file in `contestants/`
 */
export async function startContestant(name: string, settings: Json = {}): Promise<Contestant> {
  const bundling = bundles.get(name) ?? bundle(name, `test/bench/contestants/${name}.ts`);
  bundles.set(name, bundling);
  const { file, remove } = await bundling;
  removals.add(remove);
  return startPart(file, settings, nodeOptions());
}

/** Starts a file with the `start` of a contestant, wherever it is, with options for Node. */
export async function startPart(file: string, settings: Json, execArgv: string[] = []): Promise<Contestant> {
  const name = basename(file, '.ts');
  const child = fork(PROCESS, [file, JSON.stringify(settings)], { cwd: ROOT, execArgv });
  running.add(child);
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let asked = 0;
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => {
      running.delete(child);
      const error = new Error(`contestant ${name} ended with ${code}`);
      reject(error);
      for (const it of waiting.values()) it.reject(error);
    });
    child.on('message', ({ id = -1, ready, value, fault }: Reply) => {
      if (ready !== undefined) return resolve(ready);
      const asker = waiting.get(id);
      waiting.delete(id);
      if (fault === undefined) asker?.resolve(value);
      else asker?.reject(new Error(`contestant ${name}: ${fault}`));
    });
  });

  function ask<T>(what: string, argument?: Json): Promise<T> {
    asked += 1;
    const id = asked;
    return new Promise<T>((resolve, reject) => {
      waiting.set(id, { resolve: (value) => resolve(value as T), reject });
      child.send({ id, name: what, argument });
    });
  }

  return {
    url,
    ask,
    cpu: () => ask<number>('cpu'),
    async stop() {
      if (child.exitCode !== null || !child.connected) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.disconnect();
      await gone;
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      await gone;
    },
  };
}

/** Ends every contestant that is still running, and takes away what was bundled. */
export function stopContestants(): void {
  for (const child of running) child.kill('SIGKILL');
  for (const remove of removals) remove();
}

/** With `BENCH_PROFILE=<folder>` each contestant leaves a profile of its processor time there. */
function nodeOptions(): string[] {
  const folder = process.env['BENCH_PROFILE'];
  return ['--expose-gc', ...(folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`])];
}
