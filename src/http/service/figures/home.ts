import type { Registry } from 'prom-client';

/** Where figures are put. */
export interface FiguresHome {
  readonly client: typeof import('prom-client');
  readonly registry: Registry;
}

/** Where nothing else is said, in seconds: from what a warm pass takes to the longest wait for a settlement. */
export const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
export const MILLISECONDS = 1_000;

/** The label of what is beyond a bound. */
export const OTHER = 'other';

/**
 * Bounds how many values a label has: the first that come are themselves, the others {@link OTHER}. Each is a row for every figure that
 * has the label, for as long as this process lives, and strangers have a say in some of them.
 */
export function createLabelBound(most: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most) return OTHER;
    known.add(value);
    return value;
  };
}
