import type { buildConnector } from 'undici';

/** What a connection has failed with that was reset. */
export const CONNECTION_RESET = 'ERR_CONNECTION_RESET';

/**
 * A connector whose connections fail with {@link CONNECTION_RESET} when they are reset. By the system's name, `ECONNRESET`, undici
 * takes that for the end of a response that lasts as long as its connection, and half of one would be whole.
 */
export function withToldResets(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...made) => {
      // Before undici listens to it.
      made[1]?.on('error', rename);
      callback(...made);
    });
}

function rename(error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET') error.code = CONNECTION_RESET;
}
