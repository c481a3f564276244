import type { buildConnector } from 'undici';

/** What a connection has failed with that the other side has reset, or no longer takes anything on. */
export const CONNECTION_RESET = 'ERR_CONNECTION_RESET';

const RESETS: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);
/** Resets that were met when all was passed on that had come before them. */
const AFTER_ALL = new WeakSet<Error>();

/**
 * A connector whose connections fail with {@link CONNECTION_RESET} when they are reset. By the system's name, `ECONNRESET`, undici
 * takes that for the end of a response that lasts as long as its connection, and half of one would be whole; and of one that it
 * holds back just then it ends the process.
 */
export function withToldResets(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...made) => {
      const socket = made[1];
      // Before undici listens to it.
      socket?.on('error', (error: NodeJS.ErrnoException) => {
        if (!RESETS.has(error.code)) return;
        error.code = CONNECTION_RESET;
        // What is met in writing may have overtaken what is still to be read.
        if (socket.readableLength === 0 && error.syscall !== 'write') AFTER_ALL.add(error);
      });
      callback(...made);
    });
}

/** Whether a connection was reset, and if so, whether all that had come before was passed on or some of it is lost. */
export function resetAfter(error: Error): 'all' | 'some' | undefined {
  if (Reflect.get(error, 'code') !== CONNECTION_RESET) return undefined;
  return AFTER_ALL.has(error) ? 'all' : 'some';
}
