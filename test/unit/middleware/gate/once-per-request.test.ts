import express from 'express';
import { oncePerRequest } from '../../../../src/middleware/gate/once-per-request.js';
import { serveApp } from '../../../helpers/http/app-server.js';

test('middleware of an app and of a router in it works once for each request', async () => {
  let times = 0;
  const counted = oncePerRequest((_req, _res, next) => {
    times += 1;
    next();
  });
  const router = express.Router().use(counted, (_req, res) => void res.end('done'));
  const server = await serveApp((app) => app.use(counted).use('/below', counted, router), express);
  for (const path of ['/below', '/below/deeper']) expect(await (await fetch(server.url + path)).text()).toBe('done');
  expect(times).toBe(2);
  await server.close();
});
