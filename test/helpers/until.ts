const FIRST_WAIT_MS = 2;
const LONGEST_WAIT_MS = 200;
/** Each wait is a tenth of what was waited: looks cost little, and few of them are in vain. */
const GROWTH = 1.1;

/** Resolves when a condition of the outside world holds; looks at first every other millisecond, and later less often. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let waitMs = FIRST_WAIT_MS; !(await holds()); waitMs = Math.min(waitMs * GROWTH, LONGEST_WAIT_MS))
    await new Promise((resolve) => setTimeout(resolve, waitMs));
}
