/** One measured figure, and what it must be. */
export interface Figure {
  /** What was measured, in a few words. */
  readonly name: string;
  readonly value: number;
  /** `×` for ratios, `ms`, `/s`, … */
  readonly unit: string;
  /** The bench fails beyond these. Missing: the figure is only told. */
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Figures with the same words here are drawn together, as bars. */
  readonly plot?: string;
}

/** What a part of the bench may ask. */
export interface BenchContext {
  /** Small sizes, few rounds: under two minutes for everything. */
  readonly quick: boolean;
  /** Tells what is being done. */
  progress(text: string): void;
}

/** A part of the bench. */
export interface BenchPart {
  readonly name: string;
  run(context: BenchContext): Promise<readonly Figure[]>;
}

/** Whether a figure is what it must be. */
export function holds({ value, atMost, atLeast }: Figure): boolean {
  return (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast);
}

/** A share of some measurements, 0.5 for the median. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
