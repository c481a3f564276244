import express from 'express';
import { cors } from '../../../../src/middleware/gate/cors.js';
import { createGate } from '../../../../src/middleware/gate/gate.js';
import { serveApp } from '../../../helpers/http/app-server.js';

test('a request that an app makes a preflight of, behind CORS that has let it by, reaches no handler of a gate', async () => {
  let runs = 0;
  const gate = createGate('gate', (_req, res) => ({
    admitted: false,
    wants: 'payment',
    presented: false,
    answer: () => void res.status(402).end(),
  }));
  const server = await serveApp((app) => {
    app.use(cors, (req, _res, next) => {
      req.method = req.get('x-http-method-override') ?? req.method;
      next();
    });
    app.all('/report', gate, (_req, res) => {
      runs += 1;
      res.end('paid for');
    });
  }, express);
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
  const overridden = { ...headers, 'x-http-method-override': 'OPTIONS' };
  const ask = async (init: RequestInit) => (await fetch(`${server.url}/report`, init)).status;

  expect([await ask({ headers }), await ask({ method: 'OPTIONS', headers })]).toEqual([402, 204]);
  expect(await ask({ method: 'POST', headers: overridden })).toBe(204);
  expect(runs).toBe(0);
  await server.close();
});
