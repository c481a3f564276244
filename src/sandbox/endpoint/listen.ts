import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Attempts to find two neighbouring free ports before giving up on them being neighbours. */
const PAIR_ATTEMPTS = 20;
const MAX_PORT = 65_535;

/** The ports two servers listen on. */
export interface Ports {
  readonly http: number;
  readonly socket: number;
}

/**
 * Makes two servers listen. The second one takes the port after the first one's, where web3.js looks for the WebSocket
 * endpoint, and any free port where that one is taken.
 *
 * @param port - port of the first server; 0 for a free one with a free neighbour
 * @throws Error of node:net when a given port is taken
 */
export async function listenPair(http: Server, socket: Server, host: string, port: number): Promise<Ports> {
  for (let attempt = 1; ; attempt += 1) {
    const httpPort = await listen(http, host, port);
    const socketPort = await listenBeside(socket, host, httpPort);
    if (socketPort !== null) {
      return { http: httpPort, socket: socketPort };
    }
    if (port !== 0 || attempt === PAIR_ATTEMPTS) {
      return { http: httpPort, socket: await listen(socket, host, 0) };
    }
    http.close();
    await once(http, 'close');
  }
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function listenBeside(server: Server, host: string, port: number): Promise<number | null> {
  try {
    return port < MAX_PORT ? await listen(server, host, port + 1) : null;
  } catch {
    return null;
  }
}
