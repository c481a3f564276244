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
  /** Whether a value goes before all others, whosever they are, where there is no room. */
  readonly goesFirst: (value: Value) => boolean;
  /** How long a value is kept, in milliseconds. */
  readonly ttlMs: number;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly owner: string;
  readonly size: number;
  readonly goesFirst: boolean;
  readonly endsAt: number;
}

interface Share {
  size: number;
  /** With the size of each, the oldest first. */
  readonly ids: Map<string, number>;
}

/** So full the room is after it was made free, of 1: the shares are compared once for all that goes. */
const LEFT = 15 / 16;

/**
 * Makes room in which nobody pushes out what is another's: when it is full, who has most in it loses the oldest of that, until all who
 * lose have the same. So it is with what goes first, and once nothing of that is left with the rest.
 */
export function createSharedRoom<Value>(options: SharedRoomOptions<Value>): SharedRoom<Value> {
  const { maxSize, sizeOf, goesFirst, ttlMs, now } = options;
  /** The oldest first. */
  const entries = new Map<string, Entry<Value>>();
  const [first, rest] = [createShares(), createShares()];
  const sharesOf = (entry: Entry<Value>) => (entry.goesFirst ? first : rest);
  const total = () => first.size() + rest.size();

  function remove(id: string): boolean {
    const entry = entries.get(id);
    if (entry === undefined) return false;
    entries.delete(id);
    sharesOf(entry).remove(id, entry);
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

  /** What goes first leaves room for all of the rest; that loses nothing where it has room. */
  function makeFree(): void {
    for (const id of first.beyond(Math.max(0, maxSize * LEFT - rest.size()))) remove(id);
    if (total() > maxSize) for (const id of rest.beyond(maxSize * LEFT)) remove(id);
  }

  return {
    get: (id) => find(id)?.value,
    has: (id) => find(id) !== undefined,
    delete: remove,
    set(id, value, owner) {
      remove(id);
      const size = sizeOf(value);
      if (size > maxSize) return;
      const entry = { value, owner, size, goesFirst: goesFirst(value), endsAt: now() + ttlMs };
      entries.set(id, entry);
      sharesOf(entry).add(id, entry);
      if (total() > maxSize) removeOver();
      if (total() > maxSize) makeFree();
    },
  };
}

/** What owners have. */
function createShares() {
  const shares = new Map<string, Share>();
  let total = 0;
  return {
    size: (): number => total,
    add(id: string, { owner, size }: Pick<Entry<unknown>, 'owner' | 'size'>): void {
      const share = shares.get(owner) ?? { size: 0, ids: new Map<string, number>() };
      shares.set(owner, share);
      share.ids.set(id, size);
      share.size += size;
      total += size;
    },
    remove(id: string, { owner, size }: Pick<Entry<unknown>, 'owner' | 'size'>): void {
      const share = shares.get(owner);
      if (share?.ids.delete(id) !== true) return;
      share.size -= size;
      total -= size;
      if (share.ids.size === 0) shares.delete(owner);
    },
    /** What has to go so that all have together what is wanted: the oldest of those who have most. */
    beyond(target: number): readonly string[] {
      const largest = [...shares.values()].sort((one, other) => other.size - one.size);
      const level = levelOf(largest, target);
      const going: string[] = [];
      let left = total;
      for (const { size: all, ids } of largest) {
        let own = all;
        for (const [id, size] of ids) {
          if (left <= target) return going;
          if (own <= level) break;
          going.push(id);
          own -= size;
          left -= size;
        }
      }
      return going;
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
