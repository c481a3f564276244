/** How long the secret before a rotation stays good when nothing else is asked for, in milliseconds: a day. */
export const OVERLAP_MS = 86_400_000;

/**
 * When the secret before a rotation ends, in milliseconds since the epoch.
 * @param overlapMs - how much longer it stays good; 0 ends it at once, on instances whose clocks are behind as well
 */
export function endOfOldSecret(now: number, overlapMs: number = OVERLAP_MS): number {
  return overlapMs === 0 ? 0 : now + overlapMs;
}
