import type { Server } from 'node:http';

/** What tests ask of a server beside HTTP. */
export interface ServerEnds {
  /** Connections open right now. */
  connections(): Promise<number>;
  /** Stops listening and cuts every connection. */
  close(): Promise<void>;
}

/** Counts and cuts the connections of a server. */
export function endsOf(server: Server): ServerEnds {
  return {
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
