import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endsOf, type ServerEnds } from './server-ends.js';

/** A call as it arrived. */
export interface PeerCall {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** How a peer answers: a status and a body, which is sent as JSON unless it is a text. */
export interface PeerResponse {
  readonly status?: number;
  readonly body: unknown;
}

/** What a peer does with a call: it answers, breaks the connection, or never answers. */
export type PeerReply = PeerResponse | 'break' | 'silence';

/** The other side of an HTTP client, on a port of its own. */
export interface HttpPeer extends ServerEnds {
  readonly url: string;
  readonly host: string;
  readonly calls: readonly PeerCall[];
  /** How often a path was asked for. */
  count(path: string): number;
  /** From now on; default an empty object. */
  reply: (call: PeerCall) => PeerReply;
}

/** Opens a peer. */
export async function openHttpPeer(): Promise<HttpPeer> {
  const calls: PeerCall[] = [];
  const server = createServer(async (req, res) => {
    const call = await readCall(req);
    calls.push(call);
    send(res, peer.reply(call));
  });
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const peer: HttpPeer = {
    url: `http://${host}`,
    host,
    calls,
    count: (path) => calls.filter((it) => it.path === path).length,
    reply: () => ({ body: {} }),
    ...endsOf(server),
  };
  return peer;
}

async function readCall(req: IncomingMessage): Promise<PeerCall> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  const { method, url: path, headers } = req;
  return { method, path, headers, body: Buffer.concat(chunks).toString() };
}

function send(res: ServerResponse, reply: PeerReply): void {
  if (reply === 'silence') return;
  if (reply === 'break') return void res.socket?.destroy();
  const { status = 200, body } = reply;
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(typeof body === 'string' ? body : JSON.stringify(body));
}
