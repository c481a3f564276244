import type { IncomingMessage, ServerResponse } from 'node:http';
import { onHeaders } from './write-head.js';

/** So much is read of what nobody wants; who sends more is cut off. */
const MAX_DISCARDED_BYTES = 10 * 1024 * 1024;
/** How long a connection that is closed is still read, so that its client comes to the response before it is reset. */
const LINGER_MS = 10_000;

/**
 * Lets what nobody reads of a request's body run out once its response has left, so that the next request on the connection is
 * heard. Node does that by itself where nobody has begun to read; this is for bodies whose beginning was read and put back.
 */
export function discardOnceAnswered(req: IncomingMessage, res: ServerResponse): void {
  const discard = (): void => {
    if (!isBeingRead(req)) discardRest(req, res);
  };
  if (res.writableFinished) return discard();
  res.once('finish', discard);
  onHeaders(res, () => {
    if (!isBeingRead(req)) closeIfLong(req, res);
  });
}

/**
 * Lets what is left of a request's body run out, so that the response arrives and the connection can be used again; a caller
 * who still sends more than 10 MiB is cut off. Where the body says that it is longer, so does the response, if it has not begun:
 * `Connection: close`.
 */
export function discardRest(req: IncomingMessage, res: ServerResponse): void {
  if (req.readableEnded || req.destroyed) return;
  if (!res.headersSent) closeIfLong(req, res);
  let left = MAX_DISCARDED_BYTES;
  req.unpipe();
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) req.destroy();
  });
  req.resume();
}

/** A handler may go on reading behind its response: it reads at its own pace, and all of it. */
function isBeingRead(req: IncomingMessage): boolean {
  return req.listenerCount('data') > 0 || req.listenerCount('readable') > 0;
}

/** Who is told that the connection stays sends the next request behind a body that is not read to its end. */
function closeIfLong(req: IncomingMessage, res: ServerResponse): void {
  if (req.complete) return;
  if (Number(req.headers['content-length'] ?? 0) > MAX_DISCARDED_BYTES) res.shouldKeepAlive = false;
  if (res.shouldKeepAlive === false) linger(req);
}

/**
 * Has a connection closed in two steps (RFC 9112 §9.6). Node closes it with its last response, and what still comes then is
 * answered by a reset, which may take the response from a client that is busy sending.
 */
function linger(req: IncomingMessage): void {
  const { socket } = req;
  const { destroySoon } = socket;
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon;
    if (req.complete) return socket.destroySoon();
    const late = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => clearTimeout(late));
    req.once('end', () => socket.destroySoon());
    socket.end();
  };
}
