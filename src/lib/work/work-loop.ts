/** Work that is done from time to time. */
export interface Repeated {
  /** Does it now, unless it is being done. */
  run(): void;
  /** Ends it; resolves when it is not being done any more. */
  stop(): Promise<void>;
}

/**
 * Does something from time to time, never twice at once, and keeps no process alive.
 * @param everyMs - between two beginnings, in milliseconds
 * @param work - must not reject
 */
export function repeat(everyMs: number, work: () => Promise<void>): Repeated {
  let running: Promise<void> | undefined;
  const run = (): void => {
    running ??= work().finally(() => {
      running = undefined;
    });
  };
  const timer = setInterval(run, everyMs).unref();
  return {
    run,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** Work that is looked for when somebody says that there is some, and from time to time. */
export interface WorkLoop {
  start(): void;
  /** Looks at once, or once more if it is looking already. Nothing happens before the start and after the stop. */
  wake(): void;
  /**
   * Looks at once if it has not for a tenth of a second, else when that is over: however many come with something new, it
   * is looked for ten times a second.
   */
  nudge(): void;
  /** Looks no more, and waits for the look that is under way. */
  stop(): Promise<void>;
}

const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Makes a loop. Between looks that find nothing the pauses grow from a fifth of a second to five; they keep no process
 * alive.
 * @param look - does what it finds; answers how much that was
 * @param onError - told of looks that failed
 */
export function createWorkLoop(look: () => Promise<number>, onError: (error: unknown) => void): WorkLoop {
  let isStarted = false;
  let isWanted = false;
  let isNudged = false;
  let pauseMs = SHORTEST_PAUSE_MS;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  async function lookOften(): Promise<void> {
    do {
      isWanted = false;
      isNudged = false;
      const found = await look().catch((error: unknown) => {
        onError(error);
        return 0;
      });
      pauseMs = found > 0 ? SHORTEST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    } while (isWanted && isStarted);
  }

  function run(): void {
    clearTimeout(timer);
    looking = lookOften().then(() => {
      looking = undefined;
      lookedAt = performance.now();
      if (!isStarted) return;
      if (isWanted) run();
      else timer = setTimeout(run, isNudged ? SHORTEST_PAUSE_MS : pauseMs).unref();
    });
  }

  function wake(): void {
    isWanted = true;
    pauseMs = SHORTEST_PAUSE_MS;
    if (isStarted && looking === undefined) run();
  }

  function nudge(): void {
    if (isNudged) return;
    pauseMs = SHORTEST_PAUSE_MS;
    const restMs = lookedAt + SHORTEST_PAUSE_MS - performance.now();
    if (looking === undefined && restMs <= 0) return wake();
    isNudged = true;
    if (!isStarted || looking !== undefined) return;
    clearTimeout(timer);
    timer = setTimeout(wake, restMs).unref();
  }

  return {
    start() {
      isStarted = true;
      wake();
    },
    wake,
    nudge,
    async stop() {
      isStarted = false;
      clearTimeout(timer);
      await looking;
    },
  };
}
