import { createHash, randomBytes } from 'node:crypto';
import bs58 from 'bs58';

/** How many blocks before the newest one programs are told the hashes of. */
const TOLD_TO_PROGRAMS = 150;

/** The chain's blockhashes: one per block, each valid for a number of blocks. */
export interface Blockhashes {
  /** Adds the hash of the block at a height. Heights are added in order. */
  add(height: number): void;
  /** The hash of the block at a height that is still remembered. */
  at(height: number): string;
  /** The hashes of the blocks before the newest one that programs are told, newest first. */
  past(): readonly string[];
  /** The last height at which a hash made at `height` is accepted. */
  lastValid(height: number): number;
  /** Whether a hash is known and fresh enough for a bank at `height`. */
  isValid(hash: string, height: number): boolean;
}

/**
 * Creates the table, filled for the blocks before the start. A hash is made when it is asked for: of most blocks nobody asks, and
 * thousands are added at once where blockhashes are to end.
 *
 * @param height - height of the first block
 * @param maxAge - blocks a hash stays valid
 * @param past - blocks before the first one whose hashes can be asked for
 */
export function createBlockhashes(height: number, maxAge: number, past: number): Blockhashes {
  const seed = randomBytes(32);
  const first = height - past;
  const kept = Math.max(maxAge + past, TOLD_TO_PROGRAMS);
  const byHeight = new Map<number, string>();
  const heights = new Map<string, number>();
  let newest = height;

  const made = (at: number): string => {
    const known = byHeight.get(at);
    if (known !== undefined) return known;
    const hash = bs58.encode(createHash('sha256').update(seed).update(String(at)).digest());
    byHeight.set(at, hash);
    heights.set(hash, at);
    return hash;
  };

  const remembers = (at: number): boolean => at <= newest && at >= Math.max(first, newest - maxAge - past);

  return {
    add: (at) => {
      newest = at;
      const stale = at - kept - 1;
      heights.delete(byHeight.get(stale) ?? '');
      byHeight.delete(stale);
    },
    at: (wanted) => {
      if (!remembers(wanted)) {
        throw new Error(`no blockhash is kept for height ${wanted}`);
      }
      return made(wanted);
    },
    past: () =>
      Array.from({ length: Math.min(newest - first, TOLD_TO_PROGRAMS) }, (_, before) => made(newest - 1 - before)),
    lastValid: (madeAt) => madeAt + maxAge,
    isValid: (hash, now) => {
      const madeAt = heights.get(hash);
      return madeAt !== undefined && remembers(madeAt) && madeAt <= now && now - madeAt <= maxAge;
    },
  };
}
