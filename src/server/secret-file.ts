import { readFileSync, statSync } from 'node:fs';

const OF_OTHERS = 0o077;
const MODE_BITS = 0o777;

/**
 * The text of a file that holds a secret; undefined when it cannot be read. A file that others than its owner may read is
 * taken all the same, with a warning: in a container, mounted secrets are readable by everybody who is in there.
 */
export function readSecretFile(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    warnOfOthers(path, statSync(path).mode & MODE_BITS);
    return text;
  } catch {
    return undefined;
  }
}

/** Windows keeps rights of another kind, and shows the same mode for all files. */
function warnOfOthers(path: string, mode: number): void {
  if (process.platform === 'win32' || (mode & OF_OTHERS) === 0) return;
  const shown = mode.toString(8).padStart(3, '0');
  process.emitWarning(`others than its owner can read "${path}" (mode ${shown}), which holds a secret: chmod 600 it`, {
    code: 'TOLLHOUSE_SECRET_FILE',
  });
}
