import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import {
  isClientGone,
  isLastOfConnection,
  noteLastOfConnection,
  onConnection,
  onceOver,
} from '../../lib/http/connection-events.js';
import { hasLeft } from '../../lib/http/response-left.js';
import { isKept } from './idempotency-notes.js';

/** So long a response that nobody cuts off may be on its way. Its payment is held meanwhile, by heart-beats of this process. */
const PATIENCE_MS = 60_000;

/**
 * Whether the whole response was handed over before the connection closed, or is kept for its client under an
 * `Idempotency-Key`. Ask before the response is written, or in the same turn.
 * @param timeoutMs - after so long one that is still on its way counts as handed over, as its payment is not to be held for
 *   ever. Default a minute
 */
export function delivered(res: ServerResponse, timeoutMs: number = PATIENCE_MS): Promise<boolean> {
  return new Promise((resolve) => {
    const decide = (done: boolean): void => {
      clearTimeout(timer);
      stop();
      resolve(done || isKept(res));
    };
    const look = (): void => decide(hasLeft(res));
    const stop = onConnection(res, 'close', look);
    const timer = setTimeout(() => decide(!isClientGone(res)), timeoutMs);
    // The response is written after this was asked.
    if (isClientGone(res)) return void setImmediate(decide, false);
    for (const event of ['finish', 'close']) res.once(event, look);
  });
}

/** Resolves when nobody waits for the response any more. */
export function closed(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => void onceOver(res, resolve));
}

/** The longest that a timer of Node's waits. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * What becomes within so many milliseconds of a response that nobody waits for any more: its handler ends it, its app destroys it, or
 * neither. Its head may never be written: Node drops what comes after the connection.
 */
export function comesToEnd(res: ServerResponse, timeoutMs: number): Promise<'ended' | 'broken' | 'open'> {
  if (res.writableEnded) return Promise.resolve('ended');
  const { end, destroy } = res;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(timeoutMs, MAX_TIMER_MS), 'open').unref();
    const decide = (end: 'ended' | 'broken'): void => {
      clearTimeout(timer);
      resolve(end);
    };
    Reflect.set(res, 'end', (...args: unknown[]) => {
      decide('ended');
      return Reflect.apply(end, res, args);
    });
    res.destroy = (error) => {
      decide('broken');
      return destroy.call(res, error);
    };
  });
}

/** Connections of which a server has told its app that their client is at fault. */
const faulty = new WeakSet<object>();
const listenedTo = new WeakSet<EventEmitter>();

/**
 * Notes whose client is at fault where an app answers that by itself. Where none does, Node destroys the connection with the error, and
 * would not any more if anybody listened.
 */
function noteFaults(socket: object): void {
  const server: unknown = Reflect.get(socket, 'server');
  if (!(server instanceof EventEmitter) || listenedTo.has(server)) return;
  if (server.listenerCount('clientError') === 0) return;
  listenedTo.add(server);
  server.prependListener('clientError', (_error, connection) => void faulty.add(connection));
}

/**
 * Watches by whom a response is broken off that is begun and not ended. Returns whether it was this side: its app destroyed
 * the response, or the connection without a sign from the client. Whatever the client brings about is its own doing: that
 * it ends or resets the connection, is silent for too long, sends what is no HTTP, or asks for anything else meanwhile, such as a
 * tunnel (`CONNECT`), an upgrade, or what breaks connections off.
 */
export function watchBreak(res: ServerResponse): () => boolean {
  const { socket } = res.req;
  const { destroy } = res;
  noteFaults(socket);
  noteLastOfConnection(res.req);
  let isDestroyedHere = false;
  let isTimedOut = false;
  const stop = onConnection(res, 'timeout', () => {
    isTimedOut = true;
  });
  res.once('finish', stop);
  res.destroy = (error) => {
    isDestroyedHere ||= !isClientGone(res);
    return destroy.call(res, error);
  };
  const isFaulty = () => socket.readableEnded || socket.errored !== null || isTimedOut || faulty.has(socket);
  return () => isDestroyedHere || (isLastOfConnection(res.req) && !isFaulty());
}
