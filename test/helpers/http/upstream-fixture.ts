import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { problem } from '../../../src/errors/errors.js';
import { createAddressGuard } from '../../../src/gateway/network-guard/address-guard.js';
import {
  createUpstreamProxy,
  type Delivered,
  type ForwardOptions,
  GATEWAY_ERROR_HEADERS,
  type Undelivered,
  type UpstreamProxyOptions,
} from '../../../src/gateway/proxy/upstream-proxy.js';
import { freePort } from '../processes/free-port.js';

/** A gateway before one upstream, on real sockets. */
export interface UpstreamFixture {
  /** Address of the gateway, without a slash at its end; everything below goes to the upstream. */
  readonly url: string;
  /** Address of the upstream, without path. */
  readonly upstreamUrl: string;
  /** How the calls ended, in the order in which they did. */
  readonly outcomes: (Delivered | Undelivered)[];
  /** Outcomes that came as exceptions. */
  readonly thrown: unknown[];
  /** Connections of the upstream that are open. */
  connections(): number;
  /** Closes gateway, proxy and upstream. */
  close(): Promise<void>;
}

/** What an upstream does: as a handler, or with a raw connection. */
export type Upstream = { readonly http: RequestListener } | { readonly tcp: (socket: Socket) => void } | 'down';

/** What the fixture does other than usual. */
export interface FixtureOptions {
  readonly proxy?: Partial<UpstreamProxyOptions>;
  readonly forward?: Partial<ForwardOptions>;
  /** Headers that the gateway has put on its responses before it passes calls on. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Gets the response of the call that was passed on last. */
  readonly gateway?: { res?: ServerResponse };
  /** Whether the gateway reads bodies by itself first, which it must not. */
  readonly readBodyFirst?: boolean;
  /** Appended to the upstream's address. */
  readonly basePath?: string;
}

/** The secret that calls are signed with. */
export const STAND_SECRET = 'gws_only-for-tests';
/** Where the gateway has the upstream. */
export const STAND_PREFIX = '/v1/demo';

const open: (() => Promise<void>)[] = [];

/** Starts an upstream and a gateway before it. */
export async function openUpstreamFixture(upstream: Upstream, options: FixtureOptions = {}): Promise<UpstreamFixture> {
  const server = upstream === 'down' ? createTcpServer() : serverOf(upstream);
  const origin = upstream === 'down' ? `http://127.0.0.1:${await freePort()}` : await listening(server);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  const guard = createAddressGuard({ allow: ['127.0.0.0/8'] });
  const proxy = createUpstreamProxy({ guard, idleTimeoutMs: 10_000, ...options.proxy });
  const outcomes: (Delivered | Undelivered)[] = [];
  const thrown: unknown[] = [];
  const forwarding = { secrets: [STAND_SECRET], requestId: 'req_1', timeoutMs: 10_000, publicPath: STAND_PREFIX };

  const gateway = createServer(async (req, res) => {
    if (options.gateway !== undefined) options.gateway.res = res;
    for (const [name, value] of Object.entries(options.headers ?? {})) res.setHeader(name, value);
    const url = `${origin}${options.basePath ?? ''}`;
    if (options.readBodyFirst === true) await once(req.resume(), 'end');
    try {
      const outcome = await proxy.forward(req, res, { url, rest: restOf(req), ...forwarding, ...options.forward });
      outcomes.push(outcome);
      if (outcome.delivered || outcome.headSent || outcome.reason === 'client_gone') return;
      const body = problem(outcome.reason, outcome.detail);
      res.writeHead(body.status, { 'Content-Type': 'application/problem+json', ...GATEWAY_ERROR_HEADERS });
      res.end(JSON.stringify(body));
    } catch (error) {
      thrown.push(error);
      if (!res.headersSent) res.writeHead(500).end();
    }
  });
  const url = `${await listening(gateway)}${STAND_PREFIX}`;
  const close = async () => {
    await proxy.close();
    gateway.close();
    gateway.closeAllConnections();
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  open.push(close);
  return { url, upstreamUrl: origin, outcomes, thrown, connections: () => sockets.size, close };
}

/** Closes all stands of a test. */
export async function closeUpstreamFixtures(): Promise<void> {
  await Promise.all(open.splice(0).map((close) => close()));
}

function serverOf(upstream: Exclude<Upstream, 'down'>): Server | TcpServer {
  if ('http' in upstream) return createServer(upstream.http);
  return createTcpServer((socket) => {
    upstream.tcp(socket);
    // Who does not read does not see that the other side has closed.
    socket.resume();
  });
}

function restOf({ url = '' }: IncomingMessage): string {
  return url.slice(STAND_PREFIX.length);
}

async function listening(server: Server | TcpServer): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
