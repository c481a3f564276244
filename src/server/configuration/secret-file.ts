import { existsSync, readFileSync, statSync } from 'node:fs';

const OF_OTHERS = 0o077;
const MODE_BITS = 0o777;

/**
 * The text of a file that holds a secret; undefined when it cannot be read. A file that others than its owner may read is
 * taken all the same, with a warning: in a container, mounted secrets are readable by everybody who is in there.
 */
export function readSecretFile(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    warnOfOthers(path);
    return text;
  } catch {
    return undefined;
  }
}

/** A root or a relative beginning, or an ending such as `.json`. */
const LIKE_A_PATH = /^(?:[.~]{0,2}|[A-Za-z]:)[/\\]|\.[a-z]{2,5}$/i;
/** What is in texts of keys: base64's own signs, and many letters and digits in a row. */
const LIKE_A_SECRET = /[=+,[]|[A-Za-z0-9]{32,}/;

/** Why a file cannot be read, with its path. Nothing of what may be the secret itself, given where its path was meant. */
export function unreadableFile(path: string): readonly string[] {
  if (!LIKE_A_PATH.test(path) || LIKE_A_SECRET.test(path)) return [];
  return [
    existsSync(path)
      ? `"${path}" cannot be read: it must be a file that this user may read`
      : `there is no file "${path}"`,
  ];
}

/** The mode of a file that others than its owner can read, such as `644`; undefined where nobody else can, or there is none. */
export function modeForOthers(path: string): string | undefined {
  // Windows keeps rights of another kind, and shows the same mode for all files.
  if (process.platform === 'win32') return undefined;
  const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & MODE_BITS;
  return (mode & OF_OTHERS) === 0 ? undefined : mode.toString(8).padStart(3, '0');
}

function warnOfOthers(path: string): void {
  const mode = modeForOthers(path);
  if (mode === undefined) return;
  process.emitWarning(`others than its owner can read "${path}" (mode ${mode}), which holds a secret: chmod 600 it`, {
    code: 'TOLLHOUSE_SECRET_FILE',
  });
}
