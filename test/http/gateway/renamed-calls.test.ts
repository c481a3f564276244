import type { Request } from 'express';
import express4 from 'express4';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { type AppServer, serveApp } from '../../helpers/http/app-server.js';
import { ask, linesOf } from '../../helpers/http/raw-http.js';

/** The names that PHP reads in a query (`php_register_variable_ex`), those of arrays as what they begin with. */
function phpParameters(query: string): ReadonlyMap<string, string> {
  const read = (name: string) =>
    name
      .replace(/^ +/, '')
      .replace(/\0.*$|(?<=.)\[.*$/s, '')
      .replace(/[. [\]]/g, '_');
  return new Map([...new URLSearchParams(query)].map(([name, value]) => [read(name), value]));
}

const READERS: Readonly<Record<string, (req: Request) => unknown>> = {
  qs: (req) => req.query['_method'],
  php: (req) => phpParameters(req.originalUrl.split('?')[1] ?? '').get('_method'),
  aspnet: (req) => req.query['X-HTTP-Method-Override'],
};

describe('an upstream that takes its method from the query', () => {
  const opened = useGatewayFixture();
  let upstream: AppServer;
  let deeds: string[];

  beforeAll(async () => {
    upstream = await serveApp((app) => {
      app.use((req, _res, next) => {
        const told = Object.values(READERS).map((read) => read(req));
        const method = told.flat().find((it) => typeof it === 'string');
        if (req.method === 'POST' && typeof method === 'string') req.method = method;
        next();
      });
      app.use((req, res) => {
        deeds.push(req.method);
        res.end();
      });
    }, express4);
  });
  beforeEach(() => {
    deeds = [];
  });
  afterAll(() => upstream.close());

  async function callsOf(queries: readonly string[]) {
    const { client, key, newProject } = opened();
    const routes = [
      { method: 'POST', path: '/items/*', free: true },
      { method: 'DELETE', path: '/items/*', deny: 403 },
      { method: 'PUT', path: '/items/*', price: { amount: '5' } },
    ];
    const pricing = { amount: '1', token: 'USDC' };
    const { slug } = await newProject({ upstream: { url: upstream.url }, pricing, routes });
    const lines = [...linesOf(key.headers), 'Content-Length: 0'];
    const call = async (query: string) => {
      const { status, body } = await ask(client.url, `POST /v1/${slug}/items/7?${query}`, lines);
      return [query, status, body === '' ? undefined : (JSON.parse(body) as { readonly code: string }).code];
    };
    return Promise.all(queries.map(call));
  }

  test('is asked for nothing denied or dearer by a free call, however the parameter is disguised', async () => {
    const names = [
      ...['_method', '_METHOD', '%5f%4dethod', '[_method]', '%5B_method%5D', '[_method', '_method]', '[[_method]]'],
      ...['.method', '[method', '%2emethod', '_method%00x', '%20_method', '+_method', '++.method', '+method'],
      ...['_method[]', '_method[x]', '_method%5B%5D', '_method+', '_method.x', '%09_method', ']_method'],
      ...['x-http-method-override', 'X-HTTP-Method-Override', '[X-HTTP-Method-Override]', 'X-HTTP-Method-Override[]'],
    ];
    const queries = names.flatMap((name) => [`${name}=DELETE`, `a=b;${name}=PUT`, `a=b&${name}=PUT&c`]);
    expect(await callsOf(queries)).toEqual(queries.map((query) => [query, 400, 'ambiguous_path']));
    expect(deeds).toEqual([]);
  });

  test('gets every call whose parameters only sound like it', async () => {
    const queries = ['method', 'payment_method', 'shipping_method', 'payment.method', 'filter[method]', '__method']
      .concat('_methods', '_method_of_payment', '_method-of-payment', 'x_method', '[methods]', 'order[_method]')
      .map((name) => `${name}=DELETE`);
    expect(await callsOf(queries)).toEqual(queries.map((query) => [query, 200, undefined]));
    expect(deeds).toEqual(queries.map(() => 'POST'));
  });
});
