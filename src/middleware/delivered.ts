import type { ServerResponse } from 'node:http';

/** Whether the whole answer was handed over before the connection closed. Ask before the answer is written. */
export function delivered(res: ServerResponse): Promise<boolean> {
  if (res.closed || res.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    res.once('finish', () => resolve(true));
    res.once('close', () => resolve(res.writableFinished));
  });
}
