import type { Server } from 'node:http';
import type { RequestHandler } from 'express';
import { sendProblem } from '../middleware/gate/respond.js';

/** How a server ends. */
export interface GracefulStop {
  /** Express middleware, in front of everything: refuses requests once the end has begun. */
  readonly refuse: RequestHandler;
  /** Takes no connection any more, waits until what is under way is answered, and cuts what is not after 15 s. */
  stop(): Promise<void>;
}

const DRAIN_MS = 15_000;
const RETRY_SECONDS = 1;

/**
 * Ends a server without cutting responses off: paid requests are finished.
 * @param server - the server, which may be made after this
 */
export function createGracefulStop(server: () => Server): GracefulStop {
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
        const cut = setTimeout(() => server().closeAllConnections(), DRAIN_MS);
        server().close(() => {
          clearTimeout(cut);
          resolve();
        });
        server().closeIdleConnections();
      });
    },
  };
}
