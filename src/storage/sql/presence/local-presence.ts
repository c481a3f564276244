import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Presence } from './presence.js';

/** Place of the start time among the fields that follow the name of a process in `/proc/<pid>/stat`. */
const START_FIELD = 19;

/**
 * The presence of processes on one machine, told apart by their numbers and when they were started; both are given anew
 * after a restart. Of a process on another machine nothing is known.
 */
export function localPresence(): Presence {
  const place = `${hostname().replace(/[^\w-]/g, '_')}-${bootId()}-${namespace()}`;
  const id = `${place}/${process.pid}/${startOf(process.pid) ?? ''}`;
  return {
    id,
    silentMs: 0,
    async isGone(other) {
      const [where, pid, start] = other.split('/');
      if (where !== place || other === id || !/^\d+$/.test(pid ?? '')) return false;
      const startedAt = startOf(Number(pid));
      if (startedAt !== undefined) return startedAt !== start;
      return !isRunning(Number(pid));
    },
    close: async () => {},
  };
}

/** Changes with every start of the machine; empty where there is no such thing. */
function bootId(): string {
  return (read('/proc/sys/kernel/random/boot_id') ?? '').trim().slice(0, 8);
}

/** Where processes are numbered: in another container the same number is another one's. Empty where there is no such thing. */
function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '';
  }
}

/** When a process was started, in ticks of the machine; undefined where that cannot be read. */
function startOf(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[START_FIELD];
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH';
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
