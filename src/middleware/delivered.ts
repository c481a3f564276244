import type { ServerResponse } from 'node:http';
import { hasLeft } from '../protocol/answer-left.js';
import { isKept } from './kept-response.js';

/** When an answer that does not come to its end counts as delivered. Default: a minute after it was begun. */
export interface Patience {
  /** Milliseconds after which an answer that flows counts as handed over. */
  readonly afterMs: number;
  /** Whether it flows. */
  readonly flows: () => boolean;
}

const LOOK_AGAIN_MS = 1_000;
/** Half of the default hold on a payment. */
const DEFAULT_PATIENCE: Patience = { afterMs: 60_000, flows: () => true };

/**
 * Whether nobody waits for the answer any more. An answer whose turn on its connection had not come yet, behind those of
 * requests that were sent before it, is not closed with the connection: only the socket knows.
 */
export function isGone(res: ServerResponse): boolean {
  return res.closed || res.destroyed || res.req.socket.destroyed;
}

/**
 * Whether the whole answer was handed over before the connection closed. Ask before the answer is written. An answer
 * without end, or a client that does not read, must not outlast the hold on the payment: what flows long enough is taken
 * for delivered. So is what is kept for its client, who can ask for it again.
 */
export function delivered(res: ServerResponse, { afterMs, flows }: Patience = DEFAULT_PATIENCE): Promise<boolean> {
  return new Promise((resolve) => {
    const decide = (done: boolean): void => {
      clearTimeout(timer);
      resolve(done || isKept(res));
    };
    const look = (): void => {
      if (isGone(res)) decide(false);
      else if (flows()) decide(true);
      else timer = setTimeout(look, LOOK_AGAIN_MS);
    };
    let timer = setTimeout(look, afterMs);
    // The answer is written after this was asked.
    if (isGone(res)) return void setImmediate(decide, false);
    for (const event of ['finish', 'close']) res.once(event, () => decide(hasLeft(res)));
  });
}
