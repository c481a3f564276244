const REFRESH_MS = 100;
const CLEAR_LINE = '\r\u001b[2K';

/** Shows on standard error how far something is, so that standard output stays what was asked for. */
export interface Progress {
  /** Replaces what is shown; on a terminal only, and not more often than the eye can follow. */
  show(text: string): void;
  /** Ends it with a line that stays. */
  end(text: string): void;
}

/** Makes a progress line. */
export function createProgress(): Progress {
  const { stderr } = process;
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(text) {
      const time = performance.now();
      if (!stderr.isTTY || time - shownAt < REFRESH_MS) return;
      shownAt = time;
      stderr.write(`${CLEAR_LINE}${text} …`);
    },
    end(text) {
      stderr.write(`${stderr.isTTY ? CLEAR_LINE : ''}${text}\n`);
    },
  };
}
