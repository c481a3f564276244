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
