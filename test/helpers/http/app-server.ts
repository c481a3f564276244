import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import express5 from 'express';
import type { SelfSigned } from './self-signed.js';

/** An app that listens. */
export interface AppServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves an app on a free port.
 * @param tls - serves it over https. Default: over http
 * @param port - of one that was there before. Default: a free one
 */
export async function serveApp(
  configure: (app: Express) => void,
  express = express5,
  tls?: SelfSigned,
  port = 0,
): Promise<AppServer> {
  const app = express();
  configure(app);
  const server = tls === undefined ? createServer(app) : createTlsServer(tls, app);
  server.listen({ port, host: '127.0.0.1', backlog: 4_096 });
  // A connection that ends just as a client takes it again is an error of that client, not of the one who is tested.
  server.keepAliveTimeout = 0;
  // A test that fails before it closes its server lets jest end.
  server.unref();
  await once(server, 'listening');
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const scheme = tls === undefined ? 'http' : 'https';
  return { url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
