import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { AddressBucket } from './address-buckets.js';

/** What waiting connections need. */
export interface WaitingConnectionsParts {
  /** Once it does not listen any more, nobody waits. */
  readonly server: Pick<Server, 'listening'>;
  /** Reads a connection. */
  admit(socket: Socket): void;
  /** Clock in milliseconds, never going back. */
  now(): number;
}

interface Waiting {
  readonly socket: Socket;
  readonly bucket: AddressBucket;
  readonly since: number;
}

const TICK_MS = 50;
/** Of so many of one address at a time: each brings all that was sent to it meanwhile. */
const ADMITTED_AT_ONCE = 2;
/** Then it is closed. Whoever opens one after another is best kept waiting: what is closed at once is opened again at once. */
const MAX_WAIT_MS = 10_000;
/** Of all addresses together; more are closed at once. */
const MAX_WAITING = 4_000;

/**
 * Makes the place where connections wait without being read, in the order in which they came, until their addresses may send
 * again. They cost nothing but their memory: what is sent to them stays with the system, and then with the sender.
 */
export function createWaitingConnections(
  parts: WaitingConnectionsParts,
): (socket: Socket, bucket: AddressBucket) => void {
  const { server, now } = parts;
  let room: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;

  function letIn({ socket }: Waiting): void {
    socket.off('error', ignore);
    parts.admit(socket);
    socket.resume();
  }

  function tick(): void {
    const time = now();
    const admitted = new Map<AddressBucket, number>();
    room = room.filter((waiting) => {
      const { socket, bucket, since } = waiting;
      if (!server.listening || time - since >= MAX_WAIT_MS) socket.destroy();
      if (socket.destroyed) return false;
      const before = admitted.get(bucket) ?? 0;
      if (before >= ADMITTED_AT_ONCE || !bucket.take()) return true;
      admitted.set(bucket, before + 1);
      letIn(waiting);
      return false;
    });
    if (room.length > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return (socket, bucket) => {
    if (room.length >= MAX_WAITING) return void socket.destroy();
    socket.on('error', ignore);
    socket.pause();
    room.push({ socket, bucket, since: now() });
    timer ??= setInterval(tick, TICK_MS);
  };
}

function ignore(): void {
  // It closes by itself.
}
