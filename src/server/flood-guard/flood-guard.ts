import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { problem } from '../../errors/errors.js';
import { newId } from '../../lib/ids.js';
import { type AddressBucket, createAddressBuckets } from './address-buckets.js';
import { createWaitingConnections } from './waiting-connections.js';

/** Options of {@link createFloodGuard}. */
export interface FloodGuardOptions {
  /** Requests a second that one address may send for long; for a moment four times as many. */
  readonly perSecond: number;
  /** Told of an address that sends more, at most once a minute for each. */
  readonly onFlood: (address: string) => void;
  /** Open connections that one address may have. Default 1,000. */
  readonly maxConnections?: number;
  /** Clock in milliseconds, never going back. Default `performance.now`. */
  readonly now?: () => number;
}

/** Keeps one address from taking the server away from the others, at a cost that is small beside a response of the app. */
export interface FloodGuard {
  /** Stands in front of whatever answers requests. */
  requests(handle: RequestListener): RequestListener;
  /** Stands in front of the connections of a server that does not listen yet. */
  connections(server: Server): void;
}

const BURST_SECONDS = 4;
const MAX_CONNECTIONS = 1_000;
const TOLD_EVERY_MS = 60_000;

/**
 * Makes a guard against floods from single addresses. A request beyond what its address may send is answered 429 before the
 * app sees it, and its connection is closed. Then the address rests, for a second, and for up to eight if it goes on: all that
 * it sends is refused, new connections are not read, and after that a few at a time. What an address opens beyond its connections is closed at once. A connection counts as its first request
 * does, so that those which bring none, or nothing that is HTTP, count as well.
 */
export function createFloodGuard(options: FloodGuardOptions): FloodGuard {
  const { perSecond, onFlood, maxConnections = MAX_CONNECTIONS, now = () => performance.now() } = options;
  const bucketOf = createAddressBuckets({ perSecond, burst: perSecond * BURST_SECONDS, now });
  const buckets = new WeakMap<Socket, AddressBucket>();
  /** Their first request was counted with the connection. */
  const fresh = new WeakSet<Socket>();
  const refused = new WeakSet<Socket>();

  function mayPass(socket: Socket, bucket: AddressBucket): boolean {
    if (fresh.delete(socket)) return true;
    return !refused.has(socket) && bucket.take();
  }

  function letRest(bucket: AddressBucket, address: string | undefined): void {
    const time = now();
    bucket.letRest();
    if (time - bucket.toldAt < TOLD_EVERY_MS) return;
    bucket.toldAt = time;
    onFlood(address ?? 'an address that is gone');
  }

  function refuse(socket: Socket, bucket: AddressBucket, response: ServerResponse): void {
    letRest(bucket, socket.remoteAddress);
    // What came behind it on the same connection goes with it.
    if (refused.has(socket)) return;
    refused.add(socket);
    answerTooMany(response, perSecond, Math.ceil(bucket.restMs() / 1_000));
  }

  return {
    requests: (handle) => (request, response) => {
      const { socket } = request;
      const bucket = buckets.get(socket);
      if (bucket === undefined || mayPass(socket, bucket)) handle(request, response);
      else refuse(socket, bucket, response);
    },
    connections(server) {
      const read = takeOver(server);
      const admit = (socket: Socket): void => {
        fresh.add(socket);
        read(socket);
      };
      const wait = createWaitingConnections({ server, admit, now });
      server.on('connection', (socket: Socket) => {
        const { remoteAddress } = socket;
        const bucket = remoteAddress === undefined ? undefined : bucketOf(remoteAddress);
        if (bucket === undefined || bucket.connections >= maxConnections) return void socket.destroy();
        bucket.connections += 1;
        socket.once('close', () => {
          bucket.connections -= 1;
        });
        buckets.set(socket, bucket);
        if (bucket.take()) return admit(socket);
        letRest(bucket, remoteAddress);
        wait(socket, bucket);
      });
    },
  };
}

/** Takes what a server does with its connections out of it. */
function takeOver(server: Server): (socket: Socket) => void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  return (socket) => {
    for (const listener of listeners) Reflect.apply(listener, server, [socket]);
  };
}

function answerTooMany(response: ServerResponse, perSecond: number, retrySeconds: number): void {
  const id = newId('req');
  const detail = `More than ${perSecond} requests a second came from this address.`;
  const told = problem('rate_limited', detail, { request_id: id });
  const body = JSON.stringify(told);
  response.writeHead(told.status, {
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'Retry-After': retrySeconds,
    'X-Request-Id': id,
    'Access-Control-Allow-Origin': '*',
    Connection: 'close',
  });
  response.end(body);
}
