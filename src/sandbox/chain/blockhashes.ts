import { createHash, randomBytes } from 'node:crypto';
import bs58 from 'bs58';

/** The chain's blockhashes: one per block, each valid for a number of blocks. */
export interface Blockhashes {
  /** Adds the hash of the block at a height. Heights are added in order. */
  add(height: number): void;
  /** The hash of the block at a height that is still remembered. */
  at(height: number): string;
  /** The last height at which a hash made at `height` is accepted. */
  lastValid(height: number): number;
  /** Whether a hash is known and fresh enough for a bank at `height`. */
  isValid(hash: string, height: number): boolean;
}

/**
 * Creates the table, filled for the blocks before the start.
 *
 * @param height - height of the first block
 * @param maxAge - blocks a hash stays valid
 * @param past - blocks before the first one whose hashes can be asked for
 */
export function createBlockhashes(height: number, maxAge: number, past: number): Blockhashes {
  const byHeight = new Map<number, string>();
  const heights = new Map<string, number>();
  let last: Uint8Array = randomBytes(32);

  const add = (at: number): void => {
    last = createHash('sha256').update(last).update(String(at)).digest();
    const hash = bs58.encode(Buffer.from(last));
    byHeight.set(at, hash);
    heights.set(hash, at);
    const stale = at - maxAge - past - 1;
    heights.delete(byHeight.get(stale) ?? '');
    byHeight.delete(stale);
  };
  for (let at = height - past; at <= height; at += 1) {
    add(at);
  }
  return {
    add,
    at: (wanted) => {
      const hash = byHeight.get(wanted);
      if (hash === undefined) {
        throw new Error(`no blockhash is kept for height ${wanted}`);
      }
      return hash;
    },
    lastValid: (made) => made + maxAge,
    isValid: (hash, now) => {
      const made = heights.get(hash);
      return made !== undefined && made <= now && now - made <= maxAge;
    },
  };
}
