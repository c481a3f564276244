import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type ConnectionEvent = 'close' | 'timeout';
type Listeners = Set<() => void>;

const all: Readonly<Record<ConnectionEvent, WeakMap<Socket, Listeners>>> = {
  close: new WeakMap(),
  timeout: new WeakMap(),
};

/**
 * Tells what happens to the connection of a response, which outlives it. Many requests may wait on one: however many ask, it has one
 * listener. Adapters for functions in a cloud have something there that tells of nothing.
 * @returns ends it
 */
export function onConnection(
  { req: { socket } }: ServerResponse,
  event: ConnectionEvent,
  listener: () => void,
): () => void {
  if (typeof socket.on !== 'function') return () => undefined;
  const listeners = listenersOf(socket, event);
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function listenersOf(socket: Socket, event: ConnectionEvent): Listeners {
  const known = all[event].get(socket);
  if (known !== undefined) return known;
  const listeners: Listeners = new Set();
  all[event].set(socket, listeners);
  socket.on(event, () => {
    for (const listener of [...listeners]) listener();
  });
  return listeners;
}
