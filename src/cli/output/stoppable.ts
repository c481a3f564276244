import { constants } from 'node:os';
import { CommandError, StoppedError } from '../command.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Does some work that SIGINT, SIGTERM and SIGHUP stop through its signal, and waits until it has cleaned up. Further ones change nothing: of
 * a Ctrl-C in a terminal npx sends a second one. Where they come too late, the work is done to its end.
 * @param undone - what is good then, such as "nothing was restored"
 * @throws StoppedError where it was stopped
 */
export async function stoppable<T>(undone: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  let exitCode: number | undefined;
  const hear = (name: (typeof SIGNALS)[number]): void => {
    // As a shell tells of who was ended by it.
    exitCode ??= 128 + constants.signals[name];
    stop.abort(new CommandError(`stopped by ${name}; ${undone}`));
  };
  for (const name of SIGNALS) process.on(name, hear);
  try {
    return await work(stop.signal);
  } catch (error) {
    throw exitCode === undefined ? error : new StoppedError(exitCode, error);
  } finally {
    for (const name of SIGNALS) process.off(name, hear);
  }
}
