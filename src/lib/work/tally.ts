/** How many each has that has any. */
export interface Tally {
  of(name: string): number;
  add(name: string, by: number): void;
}

/** Makes a tally in which nobody has any. */
export function createTally(): Tally {
  const counts = new Map<string, number>();
  return {
    of: (name) => counts.get(name) ?? 0,
    add(name, by) {
      const count = (counts.get(name) ?? 0) + by;
      if (count === 0) counts.delete(name);
      else counts.set(name, count);
    },
  };
}
