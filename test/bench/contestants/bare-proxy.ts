import { pipeline } from 'node:stream/promises';
import { Agent } from 'undici';
import { serveApp } from '../../helpers/http/app-server.js';
import type { ContestantParts } from '../contestant.js';

/** What passes a call on in Express with undici, and does nothing else. */
export async function start({ upstream }: { readonly upstream: string }): Promise<ContestantParts> {
  const dispatcher = new Agent();
  return serveApp((app) => {
    app.get('/v1/bench-api/report', async (_req, res) => {
      const { statusCode, headers, body } = await dispatcher.request({
        origin: upstream,
        path: '/report',
        method: 'GET',
      });
      res.writeHead(statusCode, headers);
      await pipeline(body, res);
    });
  });
}
