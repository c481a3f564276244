import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { askTerms } from '../../helpers/transactions/payments.js';

const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

interface Item {
  readonly resource: string;
  readonly accepts: readonly Record<string, unknown>[];
}

interface Listed {
  readonly items: readonly Item[];
  readonly resources: readonly Item[];
  readonly pagination: { readonly limit: number; readonly total: number; readonly cursor: string | null };
}

let fixture: TollFixture;
let url: string;

beforeAll(async () => {
  fixture = await openTollFixture();
  url = await serve();
});
afterAll(() => fixture.close());

function serve(express = EXPRESSES[0][1]): Promise<string> {
  const { facilitator, payTo } = fixture;
  const gate = { facilitator, payTo };
  return fixture.serve((app) => {
    const weather = requirePayment({
      ...gate,
      price: ['$0.01', '0.02 USDT'],
      description: 'Weather of any town',
      mimeType: 'application/json',
      discovery: {
        path: '/weather/:town',
        serviceName: 'Weather & Co',
        tags: ['weather', 'forecast'],
        iconUrl: 'https://weather.example/icon.png',
        output: { example: { degrees: 21 } },
      },
    });
    const orders = requirePayment({
      ...gate,
      price: (req) => (req.query['big'] === undefined ? '$0.01' : '$0.02'),
      description: 'Orders of any size',
      discovery: { path: '/orders', bodyType: 'json', input: { town: 'Rome' } },
    });
    const secret = requirePayment({ ...gate, price: '$0.01' });
    app.get('/weather/:town', weather, (_req, res) => void res.json({ degrees: 21 }));
    app.post('/orders', orders, (_req, res) => void res.json({}));
    app.get('/secret', secret, (_req, res) => void res.json({}));
    app.use(createRouter({ facilitator, limits: false }));
  }, express);
}

const get = async (path: string, at = url) => (await (await fetch(at + path)).json()) as Listed;
const namesOf = (items: readonly Item[]) => items.map(({ resource }) => new URL(resource).pathname);

test('a gate with `discovery` is listed, with the terms of its 402 and what it says of itself; others are not', async () => {
  const { items } = await get('/discovery/resources');
  expect(namesOf(items)).toEqual(['/weather/:town', '/orders']);
  const asked = await askTerms(`${url}/weather/rome`);
  const extra = { feePayer: fixture.feePayer.publicKey.toBase58() };
  expect(items[0]).toEqual({
    resource: `${url}/weather/:town`,
    type: 'http',
    x402Version: 2,
    accepts: asked.accepts.map((it) => ({ ...it, extra })),
    lastUpdated: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    description: 'Weather of any town',
    mimeType: 'application/json',
    serviceName: 'Weather & Co',
    tags: ['weather', 'forecast'],
    iconUrl: 'https://weather.example/icon.png',
    extensions: asked.extensions,
  });
  expect(Object.keys(asked.extensions ?? {}).sort()).toEqual(['bazaar', 'payment-identifier']);
  expect(asked.resource).toMatchObject({ serviceName: 'Weather & Co', tags: ['weather', 'forecast'] });
});

test('a price that depends on the request is not listed', async () => {
  const { items } = await get('/discovery/resources');
  expect(items[1]).toMatchObject({ resource: `${url}/orders`, accepts: [] });
});

test.each([
  ['type=http', ['/weather/:town', '/orders']],
  ['type=mcp', []],
  [`network=${DEVNET}`, ['/weather/:town']],
  ['network=solana-devnet&scheme=exact', ['/weather/:town']],
  ['network=solana', []],
  ['network=eip155:8453', []],
  ['scheme=upto', []],
  ['payTo=somebody', []],
  ['extensions=bazaar', ['/weather/:town', '/orders']],
  ['extensions=toString', []],
  ['limit=1', ['/weather/:town']],
  ['limit=1&offset=1', ['/orders']],
  ['offset=2', []],
  ['limit=1000', ['/weather/:town', '/orders']],
])('?%s', async (query, paths) => {
  expect(namesOf((await get(`/discovery/resources?${query}`)).items)).toEqual(paths);
  expect(namesOf((await get(`/discovery?${query}`)).items)).toEqual(paths);
});

test('the filter by recipient is the seller’s wallet', async () => {
  expect(namesOf((await get(`/discovery/resources?payTo=${fixture.payTo}`)).items)).toEqual(['/weather/:town']);
});

test('the total counts what passes the filter, beyond the page', async () => {
  expect((await get('/discovery/resources?limit=1')).pagination).toEqual({ limit: 1, offset: 0, total: 2 });
  expect((await get('/discovery/resources?limit=500')).pagination).toEqual({ limit: 100, offset: 0, total: 2 });
});

test.each(['limit=0', 'limit=x', 'limit=1.5', 'limit=1&limit=2', 'offset=-1', `type=${'x'.repeat(33)}`])(
  '?%s is 400',
  async (query) => {
    for (const path of ['/discovery', '/discovery/resources', '/discovery/search']) {
      if (path.endsWith('search') && query.startsWith('offset')) continue;
      const answer = await fetch(`${url}${path}?query=x&${query}`);
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, 'invalid_request']);
    }
  },
);

test.each([
  ['weather', ['/weather/:town']],
  ['ORDERS', ['/orders']],
  ['any forecast', ['/weather/:town', '/orders']],
  ['any size', ['/orders', '/weather/:town']],
  ['gold', []],
  ['?!', []],
])('a search for "%s" finds what has most of the words first', async (query, paths) => {
  const { resources } = await get(`/discovery/search?query=${encodeURIComponent(query)}`);
  expect(namesOf(resources)).toEqual(paths);
});

test('a search is read page by page', async () => {
  const first = await get('/discovery/search?query=any&limit=1');
  expect(first).toMatchObject({ x402Version: 2, partialResults: true, pagination: { limit: 1, cursor: '1' } });
  const second = await get(`/discovery/search?query=any&limit=1&cursor=${first.pagination.cursor}`);
  expect(second).toMatchObject({ partialResults: false, pagination: { limit: 1, cursor: null } });
  expect(namesOf([...first.resources, ...second.resources])).toEqual(['/weather/:town', '/orders']);
});

test.each(['', '?query=', '?query=x&cursor=abc'])('a search with %j is 400', async (query) => {
  expect((await fetch(`${url}/discovery/search${query}`)).status).toBe(400);
});

test('/.well-known/x402 names the addresses', async () => {
  expect(await get('/.well-known/x402')).toEqual({
    version: 1,
    x402Version: 2,
    resources: [`${url}/weather/:town`, `${url}/orders`],
    discovery: `${url}/discovery/resources`,
  });
});

test.each(EXPRESSES)('works on %s', async (_name, express) => {
  const at = await serve(express);
  expect(namesOf((await get('/discovery', at)).items)).toEqual(['/weather/:town', '/orders']);
});

test('routes are listed once for each method and path, at the address that their gate names', async () => {
  const facilitator = fixture.facilitatorWith({});
  const described = { facilitator, price: '$0.01', payTo: fixture.payTo, baseUrl: 'https://shop.example' };
  for (const method of ['GET', 'HEAD', 'GET'] as const)
    requirePayment({ ...described, discovery: { path: '/a', method } });
  const at = await fixture.serve((app) =>
    app.use('/pay', createRouter({ facilitator, baseUrl: 'https://pay.example' })),
  );
  const { items } = await get('/pay/discovery/resources', at);
  expect(items.map(({ resource }) => resource)).toEqual(['https://shop.example/a', 'https://shop.example/a']);
  expect(await get('/pay/.well-known/x402', at)).toMatchObject({
    discovery: 'https://pay.example/pay/discovery/resources',
  });
});

test.each([
  ['a path without a slash', { path: 'report' }],
  ['a path that leads elsewhere', { path: '/a/../b' }],
  ['an address for a path', { path: '/https://x' }],
  ['no path', {}],
  ['an unknown method', { path: '/a', method: 'FETCH' }],
  ['a method with a body, and no bodyType', { path: '/a', method: 'POST' }],
  ['a method without a body, and a bodyType', { path: '/a', method: 'GET', bodyType: 'json' }],
  ['parameters that are not in the path', { path: '/a/:id', pathParams: { town: 'Rome' } }],
  ['six tags', { path: '/a', tags: ['a', 'b', 'c', 'd', 'e', 'f'] }],
  ['a name of 33 letters', { path: '/a', serviceName: 'x'.repeat(33) }],
  ['a picture that is no address', { path: '/a', iconUrl: 'icon.png' }],
  ['an option that there is not', { path: '/a', name: 'x' }],
])('%s is refused when the gate is made', (_name, discovery) => {
  const { facilitator, payTo } = fixture;
  const make = () => requirePayment({ facilitator, payTo, price: '$1', discovery: discovery as { path: string } });
  expect(make).toThrow(expect.objectContaining({ code: 'bad_option', message: expect.stringContaining('discovery') }));
});
