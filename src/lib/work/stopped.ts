import { setImmediate as turn } from 'node:timers/promises';

/**
 * Throws the reason of a signal that was aborted, also by what has come while something held the event loop, as SQLite does: that is heard
 * first.
 */
export async function throwIfStopped(signal: AbortSignal): Promise<void> {
  // What has come is read between the two.
  await turn();
  await turn();
  signal.throwIfAborted();
}
