import type { ServerResponse } from 'node:http';

/** What may be kept of responses that have ended and are not read. */
export interface UnreadBounds {
  /** Bytes of all connections together. Default 256 MiB. */
  readonly maxBytes?: number;
  /** Milliseconds in which a client must take something. Default a minute. */
  readonly timeoutMs?: number;
}

/** Responses that their handlers have ended, and their clients have not taken yet. */
export interface UnreadResponses {
  /**
   * Keeps a response among them from its end until its client has taken it.
   * @param silenceMs - after so long without a byte its connection is closed anyway; 0 for never. Default: what its connection has
   */
  watch(res: ServerResponse, silenceMs?: number): void;
}

const MAX_BYTES = 256 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/**
 * Bounds what is held for clients that do not read: one that takes nothing for too long is cut off, and where it is too much altogether
 * those which have been at it the longest are, until it is not. What was paid for they get again.
 */
export function createUnreadResponses({
  maxBytes = MAX_BYTES,
  timeoutMs = TIMEOUT_MS,
}: UnreadBounds = {}): UnreadResponses {
  /** Bytes by response, in the order in which they ended. */
  const unread = new Map<ServerResponse, number>();
  let total = 0;

  function forget(res: ServerResponse): void {
    total -= unread.get(res) ?? 0;
    unread.delete(res);
  }

  function keep(res: ServerResponse, bytes: number): void {
    forget(res);
    unread.set(res, bytes);
    total += bytes;
    res.once('close', () => forget(res));
    for (const [oldest] of unread) {
      if (total <= maxBytes) return;
      forget(oldest);
      oldest.destroy();
    }
  }

  return {
    watch(res, silenceMs) {
      // Its last bytes were handed to the connection.
      res.once('prefinish', () => {
        const { socket } = res.req;
        // Adapters for functions in a cloud have no connection.
        if (typeof socket.setTimeout !== 'function' || socket.writableLength === 0) return;
        limitSilence(res, Math.min(timeoutMs, silenceMs ?? socket.timeout ?? 0) || timeoutMs);
        keep(res, socket.writableLength);
      });
    },
  };
}

/** Ends the connection when its client takes nothing for so many milliseconds, whoever else listens; what comes behind has its time as before. */
function limitSilence(res: ServerResponse, timeoutMs: number): void {
  const { socket } = res.req;
  const before = socket.timeout ?? 0;
  socket.setTimeout(timeoutMs);
  res.once('timeout', () => res.destroy());
  res.once('finish', () => {
    if (socket.timeout === timeoutMs) socket.setTimeout(before);
  });
}
