/** What is imported with its first use, or ahead of that. */
const parts = new Set<() => Promise<unknown>>();
/** By then an app listens, and its first requests are not kept waiting for code that they do not need. */
const AHEAD_MS = 1_000;

/**
 * Code that is not loaded with the package, because it is large and may never be used: it is imported when it is first asked for, and by
 * {@link loadAhead} where a process goes on. The files of the package may be those of another version hours later.
 * @param load - imports it
 */
export function loadLater<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  function get(): Promise<T> {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }
  parts.add(get);
  return get;
}

/**
 * Loads all that is left of such code, one part after the other, a second from now; the process is not kept alive for it. What cannot be
 * loaded is told to who asks for it.
 * @returns ends that; resolves when nothing of it is under way any more
 */
export function loadAhead(): () => Promise<void> {
  const stop = new AbortController();
  let loading: Promise<void> | undefined;
  const timer = setTimeout(() => {
    loading = loadParts(stop.signal);
  }, AHEAD_MS);
  timer.unref();
  return async () => {
    stop.abort();
    clearTimeout(timer);
    await loading;
  };
}

async function loadParts(stopped: AbortSignal): Promise<void> {
  for (const get of parts) {
    if (stopped.aborted) return;
    await get().catch(() => undefined);
  }
}
