import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

type ConnectionEvent = 'close' | 'timeout';

/** Those that wait for an event, and what calls them. */
interface Waiting {
  readonly listeners: Set<() => void>;
  readonly call: () => void;
}

const onSockets: Readonly<Record<ConnectionEvent, WeakMap<EventEmitter, Waiting>>> = {
  close: new WeakMap(),
  timeout: new WeakMap(),
};
const onResponses = new WeakMap<EventEmitter, Waiting>();

/**
 * Tells what happens to the connection of a response, which outlives it. Many requests may wait on one: however many ask, it has one
 * listener, and none when nobody asks any more. Adapters for functions in a cloud have something there that tells of nothing.
 * @returns ends it
 */
export function onConnection(
  { req: { socket } }: ServerResponse,
  event: ConnectionEvent,
  listener: () => void,
): () => void {
  if (typeof socket.on !== 'function') return () => undefined;
  return listen(socket, event, onSockets[event], listener);
}

/** One listener for all that ask: Node warns of more than ten, and the app has its own. */
function listen(
  emitter: EventEmitter,
  event: ConnectionEvent,
  all: WeakMap<EventEmitter, Waiting>,
  listener: () => void,
): () => void {
  const { listeners, call } = all.get(emitter) ?? beginTo(emitter, event, all);
  listeners.add(listener);
  return () => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    emitter.off(event, call);
    all.delete(emitter);
  };
}

function beginTo(emitter: EventEmitter, event: ConnectionEvent, all: WeakMap<EventEmitter, Waiting>): Waiting {
  const listeners: Waiting['listeners'] = new Set();
  const call = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const waiting = { listeners, call };
  all.set(emitter, waiting);
  emitter.on(event, call);
  return waiting;
}

/**
 * Whether nobody waits for the response any more. A response whose turn on its connection had not come yet, behind those of
 * requests that were sent before it, is not closed with the connection: only the socket knows.
 */
export function isClientGone(res: ServerResponse): boolean {
  return res.closed || res.destroyed || res.req.socket.destroyed;
}

/**
 * Calls once when a response is over: it has left, or nobody waits for it any more. 'close' alone tells neither of a response whose turn on
 * its connection had not come, nor of one that is over before anybody asks; of that it is called in the next tick.
 * @returns ends it
 */
export function onceOver(res: ServerResponse, listener: () => void): () => void {
  let isDue = true;
  const over = (): void => {
    if (!isDue) return;
    stop();
    listener();
  };
  const stops = [onConnection(res, 'close', over), listen(res, 'close', onResponses, over)];
  const stop = (): void => {
    isDue = false;
    for (const it of stops) it();
  };
  if (isClientGone(res)) process.nextTick(over);
  return stop;
}

/** What each connection had asked for last when it was closed. */
const atClose = new WeakMap<object, unknown>();
const noted = new WeakSet<object>();

/** Notes what the connection of a request has asked for last when it is closed, for {@link isLastOfConnection}. */
export function noteLastOfConnection({ socket }: IncomingMessage): void {
  if (typeof socket.prependListener !== 'function' || noted.has(socket)) return;
  noted.add(socket);
  // Before Node's own listener, which lets the parser go.
  socket.prependListener('close', () => void atClose.set(socket, lastOf(socket)));
}

/**
 * Whether a connection is, or was until it was closed, one of HTTP that has begun no other request after this one: neither the next one,
 * nor `CONNECT` or an upgrade, upon which Node lets go of it, or somebody does who listens for that. False where nothing tells.
 */
export function isLastOfConnection(req: IncomingMessage): boolean {
  const { socket } = req;
  return (atClose.has(socket) ? atClose.get(socket) : lastOf(socket)) === req;
}

/** Node tells nobody of a `CONNECT` that nobody listens for, and to listen would change what becomes of it: only its parser knows. */
function lastOf(socket: object): unknown {
  return Reflect.get(Object(Reflect.get(socket, 'parser')), 'incoming');
}
