import type { Response } from 'express';
import { deliverInTime } from '../../../../src/middleware/response/deliver.js';
import { serveApp } from '../../../helpers/http/app-server.js';

/** What comes of a request whose response is delivered by `send`, and what still waits for it right after that. */
async function delivery(send: (res: Response) => void) {
  const waiting: number[] = [];
  let arrived: Promise<boolean> | undefined;
  const app = await serveApp((it) =>
    it.use((_req, res) => {
      const listeners = () => res.listenerCount('finish') + res.listenerCount('close');
      const before = listeners();
      try {
        arrived = deliverInTime(res, 60_000, () => send(res));
      } catch {
        waiting.push(listeners() - before);
        res.status(500).end();
      }
    }),
  );
  const { status } = await fetch(app.url);
  await app.close();
  return { status, waiting, arrived: await arrived };
}

describe('a response that is delivered', () => {
  test('has arrived when its client has had it', async () => {
    expect(await delivery((res) => void res.end('all of it'))).toMatchObject({ status: 200, arrived: true });
  });

  test('and cannot be sent is waited for by nothing', async () => {
    const { status, waiting } = await delivery(() => {
      throw new Error('a hook of the app has failed');
    });
    expect([status, waiting]).toEqual([500, [0]]);
  });
});
