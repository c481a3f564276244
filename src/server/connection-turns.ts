import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { UnreadResponses } from '../lib/http/unread-responses.js';

interface Connection {
  /** The request that is being answered. */
  current: ServerResponse | undefined;
  /** Those that were sent behind it. */
  readonly waiting: [IncomingMessage, ServerResponse][];
}

/** With so many that wait nothing more is read. Until then it is noticed when their client goes. */
const MAX_WAITING = 8;

function hold({ waiting }: Connection, socket: Socket): void {
  if (waiting.length >= MAX_WAITING) socket.pause();
}

/**
 * Hands over the requests of each connection one after the other: the next when the last has been answered, and its client has taken that.
 * Node itself hands over all that it has read, and keeps the answers until their turn comes, however much they are. Who goes before the
 * turn of its request has not made it.
 * @returns whether a connection is in the midst of a response: what is written to it then would become part of that. A request may be
 *   answered before all of it has come, and others may come behind it
 */
export function takeInTurn(
  server: Server,
  handle: RequestListener,
  unread: UnreadResponses,
): (socket: Duplex) => boolean {
  const connections = new WeakMap<Duplex, Connection>();

  function connect(socket: Socket): Connection {
    const connection: Connection = { current: undefined, waiting: [] };
    connections.set(socket, connection);
    // Node reads on when it has read a request to its end.
    socket.on('resume', () => hold(connection, socket));
    return connection;
  }

  function take(connection: Connection, req: IncomingMessage, res: ServerResponse): void {
    connection.current = res;
    unread.watch(res, server.timeout);
    res.once('close', () => takeNext(connection, req));
    handle(req, res);
  }

  function takeNext(connection: Connection, { socket }: IncomingMessage): void {
    connection.current = undefined;
    if (!socket.writable) connection.waiting.length = 0;
    const next = connection.waiting.shift();
    if (next === undefined) return;
    if (connection.waiting.length === 0) socket.resume();
    socket.setTimeout(server.timeout);
    take(connection, ...next);
  }

  server.on('request', (req, res) => {
    const { socket } = req;
    const connection = connections.get(socket) ?? connect(socket);
    if (connection.current === undefined) return take(connection, req, res);
    connection.waiting.push([req, res]);
    hold(connection, socket);
  });

  return (socket) => {
    const current = connections.get(socket)?.current;
    return current?.headersSent === true && !current.writableEnded;
  };
}
