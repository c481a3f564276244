/** Where callers wait until there is news, or until their time is over. */
export interface WaitQueue {
  /** Resolves after so many milliseconds, or when all are called. */
  wait(milliseconds: number): Promise<void>;
  /** Ends the wait of everybody who waits now. */
  callAll(): void;
}

/** Opens an empty one. */
export function createWaitQueue(): WaitQueue {
  const waiting = new Set<() => void>();
  return {
    wait: (milliseconds) =>
      new Promise((resolve) => {
        const go = (): void => {
          clearTimeout(timer);
          waiting.delete(go);
          resolve();
        };
        const timer = setTimeout(go, milliseconds);
        waiting.add(go);
      }),
    callAll() {
      for (const go of [...waiting]) go();
    },
  };
}
