import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createNetworks } from '../../../src/facilitator/networks/networks.js';
import type { ProjectFigures } from '../../../src/gateway/projects/marketplace.js';
import { DISCOVERY_OPERATIONS } from '../../../src/http/discovery/operations.js';
import { createRoutes } from '../../../src/http/framework/routes.js';
import { serviceInfo } from '../../../src/http/framework/service-info.js';
import { projectListings } from '../../../src/http/projects/project-listings.js';
import { createSqlCallStore } from '../../../src/storage/calls/sql-call-store.js';
import { newCall } from '../../contracts/call-samples.js';
import {
  openProjectsFixture,
  outcomeOf,
  type ProjectsFixture,
  type ReadResponse,
} from '../../helpers/fixtures/projects-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const DAY = 86_400_000;
const alice = walletKey('alice');
const bob = walletKey('bob');
const SOL = 'So11111111111111111111111111111111111111112';

type Item = Readonly<Record<string, unknown>> & { readonly slug: string };
type Page = { readonly data: readonly Item[]; readonly has_more: boolean; readonly next_cursor: string | null };

const figures = new Map<string, ProjectFigures>();
let fixture: ProjectsFixture;
let asAlice: ProofHeaders;
let asBob: ProofHeaders;

beforeAll(async () => {
  fixture = await openProjectsFixture({ figures: async () => figures });
});
afterAll(() => fixture.close());

/** An empty marketplace. */
async function empty(): Promise<void> {
  const tables = ['tollhouse_project', 'tollhouse_rollup'];
  for (const table of tables)
    await fixture.database.query({ name: `test_empty_${table}`, text: `delete from ${table}` });
  // What was remembered of it is as old.
  fixture.keys.fixture.advance(6_000);
  [asAlice, asBob] = [await fixture.keys.token(alice), await fixture.keys.token(bob)];
}

async function offer(slug: string, changes: object = {}, headers = asAlice): Promise<string> {
  const base = { slug, name: slug, visibility: 'listed', upstream: { url: 'https://weather.example/hidden' } };
  const body = { ...base, pricing: { amount: '0.01', token: 'USDC' }, ...changes };
  const answer = await fixture.ask('POST', '/projects', headers, body);
  expect(answer.status).toBe(201);
  fixture.keys.fixture.advance(1);
  return String(answer.body['id']);
}

/** Wallets call a project so many times each, a while ago. */
async function called(projectId: string, before: number, wallets: number, times = 1): Promise<void> {
  const book = createSqlCallStore(fixture.database);
  const at = fixture.keys.fixture.now() - before;
  const payers = Array.from({ length: wallets * times }, (_, n) => `wallet ${n % wallets}`);
  await Promise.all(payers.map((payer) => book.finish(newCall({ projectId, payer, at }))));
  await book.close();
}
const search = (query = '') => fixture.ask('GET', `/marketplace?${query}`);
const pageOf = async (query = '') => (await search(query)).body as object as Page;
const slugsOf = ({ data }: Page) => data.map(({ slug }) => slug);
const priced = (amount: string, token: string) => ({ pricing: { amount, token } });
const one = (slug: string): Promise<ReadResponse> => fixture.ask('GET', `/marketplace/${slug}`);

describe('a project', () => {
  beforeEach(empty);

  test('a listed project is shown to everybody, with its figures and an example, and nothing of its upstream', async () => {
    const example = { method: 'POST', path: '/forecast?days=2', body: { town: "Côte d'Azur" } };
    const openapi = { openapi: '3.1.0', info: { title: 'W', version: '1' }, paths: {} };
    const id = await offer('weather', { description: 'Of any town', tags: ['weather'], example, openapi });
    figures.set(id, { calls: 8, succeeded: 6, p95Ms: 120 });

    const url = `${fixture.url}/v1/weather`;
    const shown = {
      id,
      slug: 'weather',
      url,
      name: 'weather',
      description: 'Of any town',
      tags: ['weather'],
      owner: alice.address,
      status: 'active',
      pricing: expect.objectContaining({ amount: '0.01', amount_atomic: '10000', token: 'USDC' }),
      price_range: { from: '0.01', to: '0.01' },
      has_free_routes: false,
      free_calls: null,
      calls: 8,
      success_rate: 0.75,
      p95_ms: 120,
      example: {
        method: 'POST',
        url: `${url}/forecast?days=2`,
        body: example.body,
        pricing: expect.objectContaining({ amount: '0.01' }),
        curl: expect.stringContaining(`curl -X POST '${url}/forecast?days=2'`),
      },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    };
    expect(await pageOf()).toEqual({ object: 'list', data: [shown], has_more: false, next_cursor: null });
    const { status, body } = await one('weather');
    const ownDocument = expect.objectContaining({ ...openapi, servers: [{ url }] });
    expect([status, body]).toEqual([200, { ...shown, routes: [], openapi: ownDocument }]);
    for (const hidden of ['weather.example', 'gws_', 'split']) {
      expect(JSON.stringify([await pageOf(), body])).not.toContain(hidden);
    }
  });

  test('one that nobody has called has no rate, and an example in the general form', async () => {
    await offer('fresh');
    expect((await one('fresh')).body).toMatchObject({
      calls: 0,
      success_rate: null,
      p95_ms: null,
      openapi: null,
      example: { method: 'POST', url: `${fixture.url}/v1/fresh`, body: {} },
    });
  });

  test('the example is one command, whatever is in it', async () => {
    const town = `'; echo pwned; $(echo pwned) \`echo pwned\` \\ "`;
    await offer('weather', { example: { method: 'PUT', path: '/a', body: { town } } });
    const { curl } = (await one('weather')).body['example'] as { readonly curl: string };
    const script = `curl() { printf '%s\\0' "$@"; }\n${curl}`;
    const { stdout } = await promisify(execFile)('sh', ['-c', script]);
    expect(stdout.split('\0').slice(0, -1)).toEqual([
      ...['-X', 'PUT', `${fixture.url}/v1/weather/a`, '-H', 'X-Service-Key: <API_KEY>'],
      ...['-H', 'X-Service-Secret: <API_SECRET>', '-H', 'X-Service-Payment: <PAYMENT_SIGNATURE>'],
      ...['-H', 'Content-Type: application/json', '--data-raw', JSON.stringify({ town })],
    ]);
  });

  describe('with routes', () => {
    const ROUTES = [
      { method: 'GET', path: '/health', free: true },
      { path: '/admin/**', deny: 403 },
      { path: '/admin/free', free: true },
      { method: 'GET', path: '/days/*', price: { amount: '0.05' } },
      {
        method: 'POST',
        path: '/Bulk',
        price: { amount: '0.5', offers: [{ amount: '2', token: 'USDC', pass: { uses: 9 } }] },
      },
    ];
    const MORE = { routes: ROUTES, free_calls: { count: 3, window: 'day' } };

    test('says what each costs, in its order, and nothing of what is not for sale', async () => {
      await offer('weather', MORE);
      const { body } = await one('weather');
      expect(body).toMatchObject({
        price_range: { from: '0.01', to: '0.5' },
        has_free_routes: true,
        free_calls: MORE.free_calls,
        routes: [
          { method: 'GET', path: '/health', free: true, price: null },
          { method: 'GET', path: '/days/*', free: false, price: { amount: '0.05', token: 'USDC' } },
          { method: 'POST', path: '/Bulk', price: { amount: '0.5', offers: [{ amount: '2', buys: '9 requests' }] } },
        ],
        example: { method: 'POST', url: `${fixture.url}/v1/weather/Bulk`, body: {}, pricing: { amount: '0.5' } },
      });
      expect((await pageOf()).data).toMatchObject([
        { price_range: { from: '0.01', to: '0.5' }, has_free_routes: true },
      ]);
      expect(JSON.stringify([body, await pageOf()])).not.toMatch(/admin|\b403\b/);
    });

    test('has them in its own document, in the place of what stood there', async () => {
      const operation = { security: [{ upstreamKey: [] }], servers: [{ url: 'https://weather.example' }] };
      const openapi = {
        openapi: '3.1.0',
        info: { title: 'W', version: '1' },
        servers: [{ url: 'https://weather.example/hidden' }],
        security: [{ upstreamKey: [] }],
        components: { schemas: { Town: {} }, securitySchemes: { upstreamKey: { type: 'http', scheme: 'bearer' } } },
        paths: {
          '/health': { get: operation, servers: [{ url: 'https://weather.example' }] },
          '/admin/{id}': { summary: 'all of it', delete: operation },
          '/days/{town}': { get: { ...operation, 'x-payment-info': { amount: '0' } }, post: { summary: 'own price' } },
          '/wrong': 'no object',
          __proto__: { get: {} },
        },
      };
      await offer('weather', { ...MORE, openapi });
      const { openapi: shown } = (await one('weather')).body;
      const price = (amount: string) => ({ price: { mode: 'fixed', amount, token: 'USDC', currency: 'USD' } });
      expect(shown).toEqual({
        ...{ openapi: '3.1.0', info: openapi.info, servers: [{ url: `${fixture.url}/v1/weather` }] },
        security: [{ serviceKey: [], serviceSecret: [] }],
        components: { securitySchemes: { serviceKey: expect.anything(), serviceSecret: expect.anything() } },
        paths: {
          '/health': { get: { 'x-payment-info': { price: { mode: 'free' } } } },
          '/days/{town}': {
            get: { 'x-payment-info': price('0.05') },
            post: { summary: 'own price', 'x-payment-info': price('0.01') },
          },
        },
      });
    });
  });

  test('shows nothing of operations that are not for sale, however its document reaches them, nor of its upstream', async () => {
    const hidden = 'https://weather.example/hidden';
    const ok = (schema: string) => ({
      200: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } },
    });
    const denied = { operationId: 'deniedBan', tags: ['DeniedTag'], responses: ok('DeniedUser') };
    const openapi = {
      openapi: '3.1.0',
      $self: `${hidden}/openapi.json`,
      info: { title: 'W', version: '1', termsOfService: hidden, 'x-denied': { url: hidden } },
      host: 'weather.example',
      basePath: '/hidden',
      servers: [{ url: hidden }],
      externalDocs: { url: hidden, description: 'More' },
      tags: [{ name: 'DeniedTag' }, { name: 'Days' }],
      'x-denied-integration': hidden,
      webhooks: { fell: { servers: [{ url: hidden }], post: { summary: 'It fell' } } },
      paths: {
        '/denied': { $ref: '#/components/pathItems/Denied' },
        '/denied/other': { $ref: '#/paths/~1denied' },
        '/denied/alone': { summary: 'denied', parameters: [] },
        '/elsewhere': { $ref: `${hidden}/paths.json` },
        '/round': { $ref: '#/paths/~1round' },
        '/days': { $ref: '#/components/pathItems/Days', summary: 'Of days' },
        '/same': {
          get: {
            servers: [{ url: hidden }],
            tags: ['Days'],
            'x-amazon-apigateway-integration': { uri: hidden },
            externalDocs: { url: hidden },
            callbacks: { told: { '{$request.body#/url}': { servers: [{ url: hidden }], post: {} } } },
            responses: {
              200: {
                headers: { 'x-left': { schema: { $ref: '#/components/schemas/Left' } } },
                links: {
                  denied: { operationId: 'deniedBan' },
                  ban: { operationRef: '#/paths/~1denied/post' },
                  days: { operationId: 'days', server: { url: hidden } },
                },
                content: { 'application/json': { schema: { $ref: '#/paths/~1days/get/responses/200' } } },
              },
              400: { content: { 'application/json': { schema: { $ref: `${hidden}/error.json` } } } },
            },
          },
        },
      },
      components: {
        pathItems: {
          Denied: { post: denied, servers: [{ url: hidden }] },
          Days: { get: { operationId: 'days', tags: ['Days'], responses: ok('Town'), servers: [{ url: hidden }] } },
        },
        schemas: {
          DeniedUser: { properties: { kind: { $ref: '#/components/schemas/DeniedKind' } } },
          DeniedKind: { type: 'string' },
          DeniedChild: { allOf: [{ $ref: '#/components/schemas/DeniedUser' }] },
          Town: { properties: { servers: { type: 'integer' }, 'x-y': { type: 'integer' } }, example: { host: 'a' } },
          Left: { type: 'integer' },
          Unused: { type: 'boolean' },
        },
      },
    };
    await offer('weather', { openapi, routes: [{ path: '/denied/**', deny: 404 }] });
    const { body } = await one('weather');
    expect(JSON.stringify(body)).not.toMatch(/denied|weather\.example/i);
    const price = { 'x-payment-info': expect.anything() };
    const { schemas } = openapi.components;
    expect(body['openapi']).toEqual({
      ...{ openapi: '3.1.0', info: { title: 'W', version: '1' }, servers: [{ url: `${fixture.url}/v1/weather` }] },
      ...{ tags: [{ name: 'Days' }], security: expect.anything() },
      webhooks: { fell: { post: { summary: 'It fell' } } },
      paths: {
        '/days': { summary: 'Of days', get: { operationId: 'days', tags: ['Days'], responses: ok('Town'), ...price } },
        '/same': {
          get: {
            ...{ tags: ['Days'], ...price },
            callbacks: { told: { '{$request.body#/url}': { post: {} } } },
            responses: {
              200: {
                headers: { 'x-left': { schema: { $ref: '#/components/schemas/Left' } } },
                links: { days: { operationId: 'days' } },
                content: { 'application/json': { schema: { $ref: '#/paths/~1days/get/responses/200' } } },
              },
              400: { content: { 'application/json': { schema: {} } } },
            },
          },
        },
      },
      components: {
        schemas: { Town: schemas.Town, Left: schemas.Left },
        securitySchemes: expect.anything(),
      },
    });
  });

  test('tells nothing of what is denied nor of its upstream by other ports, data, names of parts or fields of its root', async () => {
    const other = 'http://WEATHER.example:8443/hidden';
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const body = (schema: object) => ({ responses: { 200: { content: { 'application/json': { schema } } } } });
    const openapi = {
      openapi: '3.1.0',
      info: { title: 'W', version: '1', termsOfService: other, contact: { url: '//weather.example/hidden' } },
      jsonSchemaDialect: 'https://dialect.example/1',
      definitions: { DeniedOld: {} },
      more: { denied: true },
      webhooks: { denied: { post: {} }, deniedToo: { post: {} }, fell: { post: {} } },
      paths: {
        '/denied': { post: body(ref('Denied')), $ref: '#/webhooks/denied' },
        '/denied/too': { $ref: 'openapi.json#/webhooks/deniedToo' },
        '/denied/called': { $ref: '#/components/callbacks/Denied/x' },
        '/days': {
          get: {
            ...body(ref('Town')),
            callbacks: { 'https://weather.example:1/a': { post: {} } },
            'x-denied': other,
          },
          post: body({
            oneOf: [
              { $ref: 'openapi.json#/components/schemas/Denied' },
              { $ref: '#denied' },
              { $dynamicRef: '#denied' },
              { $ref: '#/definitions/DeniedOld' },
              { $ref: '#/webhooks/denied/post' },
              { $ref: '#/components/schemas' },
            ],
          }),
        },
      },
      components: {
        callbacks: { Denied: { x: { post: {} } } },
        schemas: {
          Denied: { $anchor: 'denied', $dynamicAnchor: 'denied' },
          Kind: { type: 'string' },
          Town: {
            oneOf: [ref('Kind')],
            discriminator: {
              propertyName: 'kind',
              mapping: {
                ...{ kind: 'Kind', same: '#/components/schemas/Kind', first: 'Denied' },
                ...{ second: '#/components/schemas/Denied', third: '#/paths/~1denied/post' },
              },
            },
            example: { a: [other, 'b', { c: '//weather.example', d: 'weather.example:81/x' }] },
            examples: [{ [other]: 1 }, 'https:weather.example/', 'kept'],
            enum: ['\\\\weather.example\\x', 'town'],
            default: 'https://weather.example./',
          },
        },
      },
    };
    await offer('weather', { openapi, routes: [{ path: '/denied/**', deny: 404 }] });
    const { body: answer } = await one('weather');
    expect(JSON.stringify(answer)).not.toMatch(/denied|weather\.example/i);
    expect(answer['openapi']).toMatchObject({
      info: { title: 'W', version: '1', contact: {} },
      jsonSchemaDialect: 'https://dialect.example/1',
      webhooks: { fell: { post: {} } },
      components: {
        schemas: {
          Kind: { type: 'string' },
          Town: {
            oneOf: [ref('Kind')],
            discriminator: { propertyName: 'kind', mapping: { kind: 'Kind', same: '#/components/schemas/Kind' } },
            example: { a: ['b', {}] },
            examples: [{}, 'kept'],
            enum: ['town'],
          },
        },
      },
    });
  });

  test('one whose upstream is down is in no list, and says so by its name', async () => {
    const id = await offer('weather', { upstream: { url: 'https://weather.example', health: { path: '/up' } } });
    expect(slugsOf(await pageOf())).toEqual(['weather']);
    const text = 'update tollhouse_upstream_health set down_since = 1 where project_id = $1';
    await fixture.database.query({ name: 'test_down', text }, id);
    fixture.keys.fixture.advance(6_000);
    expect(slugsOf(await pageOf())).toEqual([]);
    expect((await one('weather')).body).toMatchObject({ slug: 'weather', status: 'down' });
  });

  test('private, paused and deleted projects are not there, in the list and by name', async () => {
    const ids = { paused: await offer('paused'), deleted: await offer('deleted') };
    await offer('private', { visibility: 'private' });
    await offer('unlisted', { visibility: 'unlisted' });
    const hidden = await offer('hidden');
    expect(slugsOf(await pageOf())).toHaveLength(3);
    await fixture.ask('POST', `/projects/${ids.paused}/pause`, asAlice);
    await fixture.ask('DELETE', `/projects/${ids.deleted}`, asAlice);
    await fixture.ask('PATCH', `/projects/${hidden}`, asAlice, { visibility: 'private' });
    expect(slugsOf(await pageOf())).toEqual([]);
    for (const slug of ['paused', 'deleted', 'private', 'hidden', 'never-was', '%00']) {
      expect(outcomeOf(await one(slug))).toEqual([404, 'project_not_found']);
    }
  });
});

describe('a search', () => {
  beforeAll(async () => {
    await empty();
    await offer('rain-radar', { name: 'Regen', description: 'Weather of München', tags: ['weather', 'map'] });
    await offer(
      'news',
      { name: 'News', description: '100% fresh_news', tags: ['press'], ...priced('0.5', 'USDC') },
      asBob,
    );
    await offer('map', { name: 'Maps', tags: ['map'], ...priced('0.002', 'SOL') }, asBob);
  });

  test.each<[string, string[]]>([
    ['q=WEATHER', ['rain-radar']],
    ['q=m%C3%BCnchen+regen', ['rain-radar']],
    ['q=weather+press', []],
    ['q=map', ['map', 'rain-radar']],
    ['q=100%25', ['news']],
    ['q=fresh%5Fnews', ['news']],
    ['q=fresh%25news', ['news']],
    ['tag=MAP', ['map', 'rain-radar']],
    ['tag=ma', []],
    ['tag=%25', []],
    ['token=usdc', ['news', 'rain-radar']],
    [`token=${SOL}`, ['map']],
    ['token=DOGE', []],
    ['max_price=0.01&token=USDC', ['rain-radar']],
    ['max_price=0.009999', ['map']],
    ['min_price=0.01&max_price=0.1', ['rain-radar']],
    ['min_price=0.010001', ['news']],
    ['min_price=1&max_price=0.1', []],
    ['min_price=&max_price=&token=', ['map', 'news', 'rain-radar']],
    ['max_price=99999999999999999999.5', ['map', 'news', 'rain-radar']],
    ['tag=map&token=SOL&q=maps', ['map']],
    ['q=', ['map', 'news', 'rain-radar']],
  ])('for %s finds %j', async (query, slugs) => {
    expect(slugsOf(await pageOf(`sort=new&${query}`))).toEqual(slugs);
  });

  test.each([
    'sort=name',
    'limit=0',
    'limit=101',
    'max_price=-1',
    'min_price=a',
    'max_price=1e3',
    'max_price=x',
    'token=%00',
    `q=${'x'.repeat(201)}`,
    'cursor=x',
    `sort=price&cursor=${Buffer.from('["new",1,"prj_a",1]').toString('base64url')}`,
    `sort=price&cursor=${Buffer.from('["price","\\u0000","prj_a",1]').toString('base64url')}`,
  ])('with %s is refused with 422', async (query) => {
    expect(outcomeOf(await search(query))).toEqual([422, 'validation_failed']);
  });
});

describe('the order', () => {
  /** All pages, with something done between them. */
  async function read(query: string, between: () => Promise<unknown> = async () => {}): Promise<string[]> {
    const slugs: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Page = await pageOf(`limit=2&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      slugs.push(...slugsOf(page));
      cursor = page.next_cursor;
      await between();
    }
    return slugs;
  }

  /** Wallets that paid each item ten days ago, and those of them that came again. */
  const PAYERS = [1, 2, 5, 4, 6];
  const CAME_AGAIN = [0, 2, 1, 2, 3];

  beforeEach(async () => {
    await empty();
    const prices = ['0.01', '2', '0.01', '10', '0.5'];
    for (const [at, price] of prices.entries()) {
      const id = await offer(`item-${at}`, priced(price, 'USDC'));
      await called(id, 0, CAME_AGAIN[at]!, 5 - at);
      await called(id, 10 * DAY, PAYERS[at]!);
      await called(id, 32 * DAY, 10 - at);
    }
  });

  const BY_PAYERS = ['item-4', 'item-2', 'item-3', 'item-1', 'item-0'];

  test('is by wallets that paid in the last thirty days unless another is asked for', async () => {
    expect(await read('')).toEqual(BY_PAYERS);
    expect(await read('sort=calls')).toEqual(BY_PAYERS);
  });

  test('is not bought by one wallet that pays itself, nor by an owner, however often; a buyer more is', async () => {
    const vain = await offer('vain', priced('0.000001', 'USDC'), asBob);
    await called(vain, DAY, 1, 200);
    const book = createSqlCallStore(fixture.database);
    const at = fixture.keys.fixture.now();
    const own = newCall({ projectId: vain, payer: bob.address, at });
    await Promise.all(Array.from({ length: 50 }, () => book.finish({ ...own, id: newCall().id })));
    await book.close();
    expect((await read('')).slice(0, 4)).toEqual(BY_PAYERS.slice(0, 4));
    await called(vain, DAY, 7);
    expect((await read('')).slice(0, 5)).toEqual(['vain', ...BY_PAYERS.slice(0, 4)]);
  });

  test('by price has the lowest first, those of one price in a fixed order', async () => {
    const slugs = await read('sort=price');
    expect(slugs.slice(2)).toEqual(['item-4', 'item-1', 'item-3']);
    expect(slugs.slice(0, 2).sort()).toEqual(['item-0', 'item-2']);
  });

  test('by age has the newest first', async () => {
    expect(await read('sort=new')).toEqual(['item-4', 'item-3', 'item-2', 'item-1', 'item-0']);
  });

  test.each(['calls', 'price', 'new'])(
    'by %s gives each item once, whatever comes and goes meanwhile',
    async (sort) => {
      let added = 0;
      const slugs = await read(`sort=${sort}`, async () => {
        if (added === 3) return;
        added += 1;
        await called(await offer(`late-${added}`, priced('0.001', 'USDC')), 0, 100);
      });
      const early = slugs.filter((slug) => slug.startsWith('item-'));
      expect(early.sort()).toEqual(['item-0', 'item-1', 'item-2', 'item-3', 'item-4']);
      expect(new Set(slugs).size).toBe(slugs.length);
    },
  );

  test('by calls counts the same days on every page', async () => {
    const first = await pageOf('limit=3');
    fixture.keys.fixture.advance(25 * DAY);
    const second = await pageOf(`limit=3&cursor=${first.next_cursor}`);
    expect(slugsOf(second)).toEqual(['item-1', 'item-0']);
    expect(slugsOf(await pageOf('limit=2'))).not.toEqual(['item-4', 'item-2']);
  });
});

describe('discovery', () => {
  let toll: TollFixture;

  beforeAll(async () => {
    await empty();
    toll = await openTollFixture();
  });
  afterAll(() => toll.close());

  test('has the listed projects in x402 shape, with the terms of their door, and nothing of their upstreams', async () => {
    const address = await toll.serve((app) =>
      app.use(
        '/pay',
        createRoutes(DISCOVERY_OPERATIONS, {
          networks: createNetworks('test', [toll.facilitator]),
          service: () => serviceInfo([]),
          listed: projectListings({
            projects: fixture.projects,
            termsOf: ({ split }, { project: { price } }) => [
              {
                scheme: 'exact',
                network: price.network,
                asset: price.token.mint,
                amount: price.amount,
                payTo: split[0]?.recipient ?? '',
                maxTimeoutSeconds: 60,
              },
            ],
          }),
        }).router,
      ),
    );
    const get = async (path: string) => (await fetch(`${address}/pay${path}`)).json();
    expect(await get('/discovery/resources')).toMatchObject({ items: [], pagination: { total: 0 } });

    await offer('weather', { tags: ['forecast'], example: { method: 'POST', body: { town: 'Rome' } } });
    await offer('unnamed', { name: 'Ünnamed', example: { method: 'GET', path: '/below' } }, asBob);
    await offer('private', { visibility: 'private' });
    const { items } = (await get('/discovery/resources')) as { items: Record<string, unknown>[] };
    expect(items).toEqual([
      {
        resource: `${address}/pay/v1/weather`,
        type: 'http',
        x402Version: 2,
        accepts: [
          expect.objectContaining({
            scheme: 'exact',
            amount: '10000',
            payTo: alice.address,
            extra: { feePayer: toll.feePayer.publicKey.toBase58(), paymentFlow: 'upfront' },
          }),
        ],
        lastUpdated: expect.any(String),
        description: 'weather',
        serviceName: 'weather',
        tags: ['forecast'],
        extensions: {
          bazaar: expect.objectContaining({
            info: { input: { type: 'http', method: 'POST', bodyType: 'json', body: { town: 'Rome' } } },
          }),
        },
      },
      expect.objectContaining({ resource: `${address}/pay/v1/unnamed`, description: 'Ünnamed', extensions: {} }),
    ]);
    expect(items[1]).not.toHaveProperty('serviceName');
    expect(JSON.stringify(items)).not.toContain('weather.example');

    const found = (await get('/discovery/search?query=forecast')) as { resources: Record<string, unknown>[] };
    expect(found.resources.map(({ resource }) => resource)).toEqual([`${address}/pay/v1/weather`]);
    expect(await get(`/discovery/resources?payTo=${bob.address}`)).toMatchObject({ pagination: { total: 1 } });
    expect(await get('/.well-known/x402')).toMatchObject({
      resources: [`${address}/pay/v1/weather`, `${address}/pay/v1/unnamed`],
    });

    await offer('routed', {
      routes: [
        { path: '/', deny: true },
        { method: 'GET', path: '/up', free: true },
        { method: 'GET', path: '/days/*', price: { amount: '0.05' } },
        { path: '/days/**', price: { amount: '0.06' } },
      ],
    });
    await offer('rooted', {
      routes: [
        { method: 'GET', path: '/up', free: true },
        { path: '/dear', price: { amount: '7' } },
      ],
    });
    const routed = (await get('/discovery/search?query=routed')) as { resources: Record<string, unknown>[] };
    const input = { type: 'http', method: 'GET', queryParams: {} };
    expect(routed.resources).toEqual([
      expect.objectContaining({
        resource: `${address}/pay/v1/routed/days/:var1`,
        description: 'routed (GET /days/*)',
        accepts: [expect.objectContaining({ amount: '50000' })],
        extensions: { bazaar: expect.objectContaining({ info: { input } }) },
      }),
      expect.objectContaining({
        resource: `${address}/pay/v1/routed/days`,
        accepts: [expect.objectContaining({ amount: '60000' })],
      }),
    ]);
    const rooted = (await get('/discovery/search?query=rooted')) as { resources: Record<string, unknown>[] };
    expect(rooted.resources.map(({ resource, description }) => [resource, description])).toEqual([
      [`${address}/pay/v1/rooted`, 'rooted (free with a service key: GET /up)'],
      [`${address}/pay/v1/rooted/dear`, 'rooted (/dear)'],
    ]);
  });
});
