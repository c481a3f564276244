import type { Server } from 'node:http';
import type { RequestHandler } from 'express';
import { sendProblem } from '../middleware/gate/respond.js';

/** How a server ends. */
export interface GracefulStop {
  /** Express middleware, in front of everything: refuses requests once the end has begun. */
  readonly refuse: RequestHandler;
  /**
   * Takes no connection any more, and waits until what is under way is answered. What waits for an upstream after 13 s is answered
   * without it, and what is not answered after 15 s is cut.
   */
  stop(): Promise<void>;
}

/** How long a server that ends waits, from the beginning of the end, in milliseconds. */
export interface StopTimes {
  /** Until what waits for an upstream is given up, and answered. Default 13,000. */
  readonly giveUpMs: number;
  /** Until connections are cut. Default 15,000. */
  readonly cutMs: number;
}

/** What may be other with one server than with another. */
export interface GracefulStopOptions {
  /** Gives up what waits for an upstream, so that it can be answered. Default: nothing waits for one. */
  readonly giveUp?: () => void;
  readonly times?: Partial<StopTimes> | undefined;
}

/** Between them what is given up is written down, and leaves. */
const TIMES: StopTimes = { giveUpMs: 13_000, cutMs: 15_000 };
const RETRY_SECONDS = 1;

/**
 * Ends a server without cutting responses off: paid requests are finished, or told that nothing was charged.
 * @param server - the server, which may be made after this
 */
export function createGracefulStop(
  server: () => Server,
  { giveUp = () => undefined, times }: GracefulStopOptions = {},
): GracefulStop {
  const { giveUpMs, cutMs } = { ...TIMES, ...times };
  let stopping = false;
  return {
    refuse(_req, res, next) {
      if (stopping) {
        const detail = 'This server is being stopped; send the same request again in a moment.';
        const headers = { Connection: 'close' };
        return sendProblem(res, 'stopping', detail, { headers, retryAfterSeconds: RETRY_SECONDS });
      }
      // A connection that is kept alive would hold the server open after its response has left.
      res.once('close', () => {
        if (stopping) setImmediate(() => server().closeIdleConnections());
      });
      next();
    },
    stop() {
      stopping = true;
      return new Promise((resolve) => {
        const timers = [setTimeout(giveUp, giveUpMs), setTimeout(() => server().closeAllConnections(), cutMs)];
        server().close(() => {
          for (const timer of timers) clearTimeout(timer);
          resolve();
        });
        server().closeIdleConnections();
      });
    },
  };
}
