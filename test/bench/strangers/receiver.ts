import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of HTTP at a loopback address. */
export interface Receiver {
  readonly url: string;
  close(): void;
}

/** Starts one on a free port. */
export async function receive(handle: RequestListener, host = '127.0.0.1'): Promise<Receiver> {
  const server = createServer(handle);
  server.listen(0, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
