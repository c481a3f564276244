import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A message as it arrived. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How a receiver answers. */
export type Respond = (res: ServerResponse, received: Received) => void;

/** A real HTTP server that is told of events, or called as an upstream. */
export interface Receiver {
  readonly url: string;
  /** The same without path. */
  readonly origin: string;
  /** Everything that arrived, in order. */
  readonly received: readonly Received[];
  /** Most requests that were under way at once. */
  atMost(): number;
  /** Answers differently from now on. */
  respond(respond: Respond): void;
  close(): Promise<void>;
}

/** Answers with a status and nothing else. */
export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Respond =>
  (res) =>
    void res.writeHead(code, headers).end();

/** Starts a receiver on a free port, which answers 204 unless it is told otherwise. */
export async function startReceiver(first: Respond = status(204)): Promise<Receiver> {
  const received: Received[] = [];
  let respond = first;
  let underWay = 0;
  let most = 0;
  const server = createServer(async (req, res) => {
    underWay += 1;
    most = Math.max(most, underWay);
    res.once('close', () => {
      underWay -= 1;
    });
    const message = { method: req.method ?? '', path: req.url ?? '', headers: req.headers, body: await text(req) };
    received.push(message);
    respond(res, message);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/hook?x=1`,
    origin,
    received,
    atMost: () => most,
    respond(next) {
      respond = next;
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
