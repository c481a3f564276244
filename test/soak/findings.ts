/** What broke, and what was counted. Told once at the end, and each break at once. */
export interface Findings {
  readonly broken: readonly string[];
  /** Counts by group and name. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** An invariant broke. */
  broke(what: string): void;
  count(group: string, name: string, by?: number): void;
  /** Sum of a group. */
  sum(group: string): number;
}

/** More are counted, not told. */
const MOST_TOLD = 200;

export function createFindings(tell: (line: string) => void): Findings {
  const broken: string[] = [];
  const counts = new Map<string, Map<string, number>>();

  function count(group: string, name: string, by = 1): void {
    const names = counts.get(group) ?? new Map<string, number>();
    counts.set(group, names.set(name, (names.get(name) ?? 0) + by));
  }

  return {
    broken,
    counts,
    count,
    broke(what) {
      count('broken', 'in all');
      if (broken.length >= MOST_TOLD) return;
      broken.push(what);
      tell(`BROKEN: ${what}`);
    },
    sum: (group) => [...(counts.get(group)?.values() ?? [])].reduce((total, it) => total + it, 0),
  };
}
