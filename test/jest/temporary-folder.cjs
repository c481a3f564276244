const { chmodSync, mkdtempSync, rmSync, statfsSync } = require('node:fs');
const { join } = require('node:path');

const IN_MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 2 ** 30;

let opened;

/**
 * Gives a run of tests a folder for temporary files in memory, where there is room: hundreds of small databases are made and
 * thrown away, and on a disk that is mostly the kernel's work. Tests kill processes, not machines, so nothing that they show
 * needs a disk. A `TMPDIR` that is set stays.
 */
exports.openTemporaryFolder = () => {
  if (process.env.TMPDIR !== undefined || !hasRoom(IN_MEMORY)) return;
  opened = mkdtempSync(join(IN_MEMORY, 'tollhouse-'));
  // PostgreSQL runs as another user where this process is root.
  chmodSync(opened, 0o755);
  process.env.TMPDIR = opened;
};

/** Removes the folder, with what killed processes have left in it. */
exports.closeTemporaryFolder = () => {
  if (opened === undefined) return;
  rmSync(opened, { recursive: true, force: true, maxRetries: 5 });
  delete process.env.TMPDIR;
  opened = undefined;
};

function hasRoom(folder) {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM_BYTES;
  } catch {
    return false;
  }
}
