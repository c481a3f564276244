import { execFileSync, spawnSync } from 'node:child_process';

/** Whether the files of another process can be limited here: Linux with `prlimit`. */
export const HAS_DISK_LIMIT = spawnSync('prlimit', ['--version']).status === 0;

/** From now on a process can write to no file, as if its disk were full; pipes and sockets are not concerned. */
export function fillDisk(pid: number): void {
  limitFiles(pid, '0:unlimited');
}

/** There is room again. */
export function makeRoom(pid: number): void {
  limitFiles(pid, 'unlimited:unlimited');
}

function limitFiles(pid: number, limits: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${limits}`]);
}
