/** When something is done, on the clock of `performance.now`. */
export interface Pace {
  readonly begin: number;
  readonly end: number;
  /** From one beginning to the next, in milliseconds. */
  readonly everyMs: number;
}

/** What came of what was done. */
export interface Went {
  /** Of each that was answered as it must be, in milliseconds. */
  readonly times: readonly number[];
  /** What became of the others. */
  readonly bad: readonly string[];
}

/**
 * Does something one time after the other, at a pace or as fast as it is over.
 * @param act - resolves with what was wrong; undefined where all is well
 */
export async function atPace({ begin, end, everyMs }: Pace, act: () => Promise<string | undefined>): Promise<Went> {
  const [times, bad]: [number[], string[]] = [[], []];
  let next = begin;
  for (;;) {
    await pause(next - performance.now());
    const begun = performance.now();
    if (begun >= end) return { times, bad };
    const wrong = await act().catch(String);
    if (wrong === undefined) times.push(performance.now() - begun);
    else bad.push(wrong);
    next = Math.max(next + everyMs, performance.now());
  }
}

/** Waits, where there is time left. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)));
}
