import type { ServerResponse } from 'node:http';

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

/** Whether nobody waits for the answer any more. */
export function isGone(res: ServerResponse): boolean {
  return res.closed || res.destroyed;
}

/**
 * Whether the whole answer was handed over before the connection closed. Ask before the answer is written. An answer
 * without end, or a client that does not read, must not outlast the hold on the payment: what flows long enough is taken
 * for delivered.
 */
export function delivered(res: ServerResponse, { afterMs, flows }: Patience = DEFAULT_PATIENCE): Promise<boolean> {
  if (isGone(res)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const decide = (done: boolean): void => {
      clearTimeout(timer);
      resolve(done);
    };
    const look = (): void => {
      if (flows()) decide(true);
      else timer = setTimeout(look, LOOK_AGAIN_MS);
    };
    let timer = setTimeout(look, afterMs);
    res.once('finish', () => decide(true));
    res.once('close', () => decide(res.writableFinished));
  });
}
