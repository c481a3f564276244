/** Room that several owners share. */
export interface SharedRoom<Value> {
  get(id: string): Value | undefined;
  has(id: string): boolean;
  /** Puts a value under an id, as the newest of its owner. One that is larger than the whole room is not kept. */
  set(id: string, value: Value, owner: string): void;
  delete(id: string): boolean;
}

/** Bounds of a {@link SharedRoom}. */
export interface SharedRoomOptions<Value> {
  /** How much is kept in all, in the unit of `sizeOf`. */
  readonly maxSize: number;
  readonly sizeOf: (value: Value) => number;
  /** How long a value is kept, in milliseconds. */
  readonly ttlMs: number;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly owner: string;
  readonly size: number;
  readonly endsAt: number;
}

interface Share {
  size: number;
  /** The oldest first. */
  readonly ids: Set<string>;
}

/** So full the room is after it was made free, of 1: the shares are compared once for all that goes. */
const LEFT = 15 / 16;

/**
 * Makes room in which nobody pushes out what is another's: when it is full, who has most in it loses the oldest of that, until all who
 * lose have the same.
 */
export function createSharedRoom<Value>(options: SharedRoomOptions<Value>): SharedRoom<Value> {
  const { maxSize, sizeOf, ttlMs, now } = options;
  /** The oldest first. */
  const entries = new Map<string, Entry<Value>>();
  const shares = new Map<string, Share>();
  let total = 0;

  function remove(id: string): boolean {
    const entry = entries.get(id);
    if (entry === undefined) return false;
    entries.delete(id);
    total -= entry.size;
    const share = shares.get(entry.owner);
    share?.ids.delete(id);
    if (share !== undefined) share.size -= entry.size;
    if (share?.ids.size === 0) shares.delete(entry.owner);
    return true;
  }

  function find(id: string): Entry<Value> | undefined {
    const entry = entries.get(id);
    return entry !== undefined && now() < entry.endsAt ? entry : undefined;
  }

  /** Removes what is over; all last equally long. */
  function removeOver(): void {
    for (const [id, { endsAt }] of entries) {
      if (now() < endsAt) return;
      remove(id);
    }
  }

  function makeFree(): void {
    const target = maxSize * LEFT;
    const largest = [...shares.values()].sort((one, other) => other.size - one.size);
    const level = levelOf(largest, target);
    for (const share of largest) {
      for (const id of [...share.ids]) {
        if (total <= target) return;
        if (share.size <= level) break;
        remove(id);
      }
    }
  }

  return {
    get: (id) => find(id)?.value,
    has: (id) => find(id) !== undefined,
    delete: remove,
    set(id, value, owner) {
      remove(id);
      const size = sizeOf(value);
      if (size > maxSize) return;
      entries.set(id, { value, owner, size, endsAt: now() + ttlMs });
      const share = shares.get(owner) ?? { size: 0, ids: new Set<string>() };
      shares.set(owner, share);
      share.ids.add(id);
      share.size += size;
      total += size;
      if (total > maxSize) removeOver();
      if (total > maxSize) makeFree();
    },
  };
}

/** How much each may have so that all have together what is wanted; those who have less leave the rest to the others. */
function levelOf(largest: readonly Share[], target: number): number {
  let left = target;
  for (let at = largest.length - 1; at >= 0; at -= 1) {
    const size = largest[at]?.size ?? 0;
    if (size * (at + 1) > left) return left / (at + 1);
    left -= size;
  }
  return target;
}
