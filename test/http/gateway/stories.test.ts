import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type Caller, type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { type KeyedApi, startKeyedApi } from '../../helpers/http/keyed-api.js';
import { signingFetch } from '../../helpers/http/official-clients.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const SECRETS_KEY = 'a secret for upstreams that is long enough';
const PACK = { amount: '0.05', token: 'USDC', pass: { uses: 10 } };
type Rows = readonly Readonly<Record<string, unknown>>[];

describe.each(DAILY_DATABASES)('over HTTP, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase], { keepsPasses: true, secretsKey: SECRETS_KEY });
  let fixture: GatewayFixture;
  let api: KeyedApi;
  let project: MadeProject;
  let buyer: Caller;
  let asBuyer: ProofHeaders;

  beforeAll(async () => {
    fixture = opened();
    api = await startKeyedApi();
    buyer = await fixture.newCaller();
    asBuyer = await fixture.client.signIn(buyer.wallet);
  });
  afterAll(() => api?.close());

  const get = async (path: string, headers: ProofHeaders = {}) => {
    const answer = await fixture.client.ask('GET', path, undefined, headers);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(answer.text).not.toContain(api.key);
    return answer.body;
  };
  const call = (path: string, headers: ProofHeaders = {}) =>
    fixture.client.call(`meteo${path}`, { headers: { ...buyer.key.headers, ...headers } });

  test('an owner sells an API with a key of its own as it is, at four prices, two of them nothing, by one request', async () => {
    project = await fixture.client.project(fixture.asOwner, {
      slug: 'meteo',
      name: 'Weather of towns',
      visibility: 'listed',
      upstream: { url: api.url, headers: { 'X-Api-Key': api.key } },
      pricing: { amount: '0.01', token: 'USDC', offers: [PACK] },
      routes: [
        { method: 'GET', path: '/health', free: true },
        { method: 'GET', path: '/towns', free: true },
        { method: 'GET', path: '/forecast/*', price: { amount: '0.05' } },
      ],
      openapi: api.document,
    });
    expect(JSON.stringify(project)).not.toContain(api.key);
  });

  test('a buyer finds it by its price, with what each call costs, and nothing of where it runs', async () => {
    const { data } = await get('/api/v1/marketplace?q=weather&min_price=0.01&max_price=0.02&token=USDC');
    expect(data).toMatchObject([{ slug: 'meteo', price_range: { from: '0.01', to: '0.05' }, has_free_routes: true }]);
    const shown = await get('/api/v1/marketplace/meteo');
    expect(shown).toMatchObject({
      pricing: { amount: '0.01', offers: [{ amount: '0.05', buys: '10 requests' }] },
      routes: [
        { path: '/health', free: true },
        { path: '/towns', free: true },
        { path: '/forecast/*', price: { amount: '0.05' } },
      ],
      openapi: {
        servers: [{ url: `${fixture.client.url}/v1/meteo` }],
        paths: { '/weather/{town}': { get: { 'x-payment-info': { price: { amount: '0.01' } } } } },
      },
    });
    const found = await get('/discovery/resources?limit=100');
    const resources = (found['items'] as Rows).map(({ resource }) => String(resource));
    expect(resources.filter((it) => it.includes('meteo'))).toEqual([
      `${fixture.client.url}/v1/meteo`,
      `${fixture.client.url}/v1/meteo/forecast/:var1`,
    ]);
    expect(JSON.stringify([shown, found])).not.toContain(new URL(api.url).host);
  });

  test('he calls what is free with his key alone, and is told the prices of the rest', async () => {
    expect(await call('/towns')).toMatchObject({ status: 200, text: '["berlin","rome"]' });
    expect((await call('/health')).status).toBe(200);
    expect(await call('/weather/berlin')).toMatchObject({ status: 402, body: { code: 'payment_required' } });
    expect((await fixture.client.call('meteo/towns')).status).toBe(401);
  });

  test('he buys a pack, calls by it with the official client, and sees calls, pass and receipt', async () => {
    const url = `${fixture.client.url}/v1/meteo/weather`;
    const wallet = { sandbox: fixture.sandbox, payer: buyer.wallet };
    const payment = await signPayment(wallet, `${url}/berlin`, { init: { headers: buyer.key.headers }, choice: 1 });
    const bought = await call('/weather/berlin', payment.v2);
    expect([bought.status, bought.body, bought.headers.get('access-pass-remaining')]).toEqual([
      200,
      { town: 'berlin', sun: true },
      '9',
    ]);
    const official = await signingFetch({ wallet: buyer.wallet, rpcUrl: fixture.sandbox.rpcUrl });
    const next = await official(`${url}/rome`, { headers: buyer.key.headers });
    expect([next.status, next.headers.get('access-pass-remaining')]).toEqual([200, '8']);

    const calls = async () => (await get('/api/v1/calls', asBuyer))['data'] as Rows;
    await until(async () => (await calls()).length === 4);
    const [rome, berlin, ...free] = await calls();
    expect(rome).toMatchObject({
      project: 'meteo',
      route: 'GET /weather/rome',
      amount: null,
      pass_id: berlin?.['pass_id'],
    });
    expect(berlin).toMatchObject({ route: 'GET /weather/berlin', status: 200, outcome: 'succeeded', amount: '0.05' });
    expect(free.map(({ amount, payment_id }) => [amount, payment_id])).toEqual([
      [null, null],
      [null, null],
    ]);
    const passes = (await get('/api/v1/passes', asBuyer))['data'];
    expect(passes).toMatchObject([{ project: 'meteo', bought: '10', left: '8' }]);
    const receipt = await get(`/api/v1/payments/${String(berlin?.['payment_id'])}/receipt`, asBuyer);
    expect(receipt).toMatchObject({ amount: '0.05', status: 'settled', project: { slug: 'meteo' } });
    const owned = await get(`/api/v1/projects/${project.id}/analytics`, fixture.asOwner);
    expect(owned['totals']).toMatchObject({ calls: 4, paid: 1, revenue: { USDC: '0.05' } });
    expect(api.served).toEqual(['/towns', '/weather/berlin', '/weather/rome']);
  });
});
