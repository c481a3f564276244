import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real file system of its own, in memory, with little room. */
export interface SmallDisk {
  readonly path: string;
  /** Leaves so many bytes on it, and takes what it had taken before. */
  leave(bytes: number): Promise<void>;
  /** Gives back whatever `leave` has taken. */
  makeRoom(): void;
  /** To be called when nothing on it is open any more. */
  remove(): void;
}

/** Makes one; undefined where this process may not mount anything. */
export function openSmallDisk(mebibytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'tollhouse-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path]);
  if (mounted.status !== 0) {
    rmSync(path, { recursive: true });
    return undefined;
  }
  const ballast = join(path, 'ballast');
  const makeRoom = (): void => rmSync(ballast, { force: true });
  return {
    path,
    makeRoom,
    async leave(bytes) {
      makeRoom();
      const { bavail, bsize } = await statfs(path);
      writeFileSync(ballast, Buffer.alloc(bavail * bsize - bytes));
    },
    remove() {
      spawnSync('umount', [path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}
