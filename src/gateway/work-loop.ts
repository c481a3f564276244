/** Work that is looked for when somebody says that there is some, and from time to time. */
export interface WorkLoop {
  start(): void;
  /** Looks at once, or once more if it is looking already. Nothing happens before the start and after the stop. */
  wake(): void;
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
  let pauseMs = SHORTEST_PAUSE_MS;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  async function lookOften(): Promise<void> {
    do {
      isWanted = false;
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
      if (!isStarted) return;
      if (isWanted) run();
      else timer = setTimeout(run, pauseMs).unref();
    });
  }

  function wake(): void {
    isWanted = true;
    pauseMs = SHORTEST_PAUSE_MS;
    if (isStarted && looking === undefined) run();
  }

  return {
    start() {
      isStarted = true;
      wake();
    },
    wake,
    async stop() {
      isStarted = false;
      clearTimeout(timer);
      await looking;
    },
  };
}
