import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { ask as askOnce, linesOf, type RawResponse } from '../../helpers/http/raw-http.js';
import { encodeHeader } from '../../helpers/transactions/payments.js';

/** Asks until the limit on a key lets it: a quick machine meets it here. */
async function ask(...request: Parameters<typeof askOnce>): Promise<RawResponse> {
  let answer = await askOnce(...request);
  while (answer.status === 429) answer = await askOnce(...request);
  return answer;
}

/** JSON that would reach the prototype of everything where it is merged carelessly. */
const POISON = [
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"__proto__":{"__proto__":{"polluted":true}},"constructor":{"prototype":{"polluted":true}}}',
  '[{"__proto__":{"polluted":true}}]',
];
const FIELDS = [
  'metadata',
  'upstream',
  'pricing',
  'split',
  'limits',
  'example',
  'openapi',
  'spending',
  'expected',
  'paymentPayload',
];
const POSTS = [
  '/settle',
  '/verify',
  '/create-payment',
  '/token-gate/check-access',
  '/api/v1/auth/challenge',
  '/api/v1/projects',
  '/api/v1/keys/generate',
  '/api/v1/webhooks',
];
const QUERIES = [
  '__proto__[polluted]=true',
  '__proto__.polluted=true',
  'constructor[prototype][polluted]=true',
  'limit[__proto__][polluted]=true',
  'limit[constructor][prototype][polluted]=true',
  'cursor[]=__proto__&limit[]=1',
  'sort=__proto__&type=constructor&wallet=__proto__&interval=toString&window=valueOf&tag=hasOwnProperty',
  '__defineGetter__=x&toString=x&hasOwnProperty=x&then=x',
];
const GETS = [
  '/api/v1/projects',
  '/api/v1/keys',
  '/api/v1/events',
  '/api/v1/spending',
  '/api/v1/marketplace',
  '/api/v1/projects/__proto__',
  '/api/v1/keys/constructor',
  '/api/v1/marketplace/__proto__',
  '/payments/__proto__',
  '/payments/constructor/transaction',
  '/discovery/resources',
  '/discovery/search',
  '/token-gate/get-tier',
  '/v1/__proto__',
  '/v1/constructor',
];
const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then'];
const PROTOTYPES = [
  Object.prototype,
  Array.prototype,
  Function.prototype,
  String.prototype,
  Map.prototype,
  Promise.prototype,
];

/** A body that takes no other keys says so instead. */
const TOLD = /__proto__|the body: must be a/;
const fixture = useGatewayFixture();
const before = JSON.stringify(PROTOTYPES.map((it) => Object.getOwnPropertyNames(it)));

describe.each(DAILY_EXPRESSES)('nothing that is sent reaches a prototype, %s', (_name, express) => {
  let url: string;

  beforeAll(async () => {
    url = await fixture().serve((app) => app.use(fixture().router), express);
  });
  afterEach(() => {
    expect(JSON.stringify(PROTOTYPES.map((it) => Object.getOwnPropertyNames(it)))).toBe(before);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  async function send(method: string, path: string, body: string): Promise<readonly [number, Record<string, unknown>]> {
    const headers = { 'content-type': 'application/json', ...fixture().asOwner };
    const answer = await fetch(url + path, { method, body, headers });
    return [answer.status, (await answer.json()) as Record<string, unknown>];
  }

  const isRefused = (status: number): boolean => status >= 400 && status < 500;

  test.each(POSTS)('in the body of %s', async (path) => {
    for (const poison of POISON) {
      const bodies = [poison, ...FIELDS.map((field) => `{"${field}":${poison},"name":"x","slug":"abc"}`)];
      const all = await Promise.all(bodies.map((body) => send('POST', path, body)));
      for (const [status] of all) expect([path, poison, isRefused(status)]).toEqual([path, poison, true]);
    }
  });

  test('in a merge patch', async () => {
    const path = `/api/v1/projects/${fixture().project.id}`;
    for (const poison of POISON) {
      expect((await send('PATCH', path, poison))[0]).toBe(422);
      for (const field of ['metadata', 'limits', 'upstream']) {
        const [status, body] = await send('PATCH', path, `{"${field}":${poison}}`);
        expect([field, poison, status, body]).toEqual([field, poison, 422, body]);
      }
    }
    const document = '{"openapi":{"__proto__":{"polluted":true}}}';
    expect(await send('PATCH', path, document)).toMatchObject([422, { code: 'validation_failed' }]);
  });

  test('in an otherwise good body: it is refused in words, and not left out in silence', async () => {
    const project = {
      slug: 'poisoned',
      upstream: { url: 'https://example.com' },
      pricing: { amount: '1', token: 'USDC' },
    };
    const good = {
      '/create-payment': { amount: 1, token: 'USDC', recipient: fixture().payTo },
      '/api/v1/keys/generate': { name: 'x' },
      '/api/v1/projects': { name: 'x', ...project },
    };
    for (const [path, body] of Object.entries(good)) {
      for (const poison of ['"__proto__":{"polluted":true}', '"metadata":{"__proto__":"polluted"}']) {
        const [status, problem] = await send('POST', path, `${JSON.stringify(body).slice(0, -1)},${poison}}`);
        expect([path, isRefused(status), problem['detail']]).toEqual([path, true, expect.stringMatching(TOLD)]);
      }
    }
  });

  test('names of members are kept as they are where any name is welcome', async () => {
    const path = `/api/v1/projects/${fixture().project.id}`;
    const [, ...names] = NAMES;
    const metadata = Object.fromEntries(names.map((name) => [name, 'kept']));
    const openapi = { constructor: { prototype: { polluted: true } } };

    expect(await send('PATCH', path, JSON.stringify({ metadata, openapi }))).toMatchObject([
      200,
      { metadata, openapi },
    ]);
    expect(await send('PATCH', path, '{"metadata":null,"openapi":null}')).toMatchObject([200, {}]);
    const asked = { amount: 1, token: 'USDC', recipient: fixture().payTo, metadata };
    const [status, { payment_id }] = await send('POST', '/create-payment', JSON.stringify(asked));
    const shown = await fetch(`${url}/payments/${payment_id}`);
    expect([status, await shown.json()]).toEqual([200, expect.objectContaining({ metadata })]);
  });

  test.each(QUERIES)('in the query %s', async (query) => {
    for (const path of GETS) {
      const { status } = await ask(
        url,
        `GET ${path}?${query}`,
        linesOf({ ...fixture().asOwner, ...fixture().key.headers }),
      );
      expect([path, status < 500]).toEqual([path, true]);
    }
  });

  test('in names and values of headers', async () => {
    const { project, key } = fixture();
    for (const name of NAMES) {
      const lines = [`${name}: polluted`, `X-Request-Id: ${name}`, `If-Match: ${name}`, `Idempotency-Key: ${name}`];
      const shown = [...lines, ...linesOf(key.headers)];
      expect((await ask(url, `GET /v1/${project.slug}`, shown)).status).toBe(402);
      for (const header of ['PAYMENT-SIGNATURE', 'X-PAYMENT', 'SIGN-IN-WITH-X', 'X-Service-Payment']) {
        const paid = [
          ...shown,
          `${header}: ${Buffer.from(`{"x402Version":2,"${name}":{"polluted":true}}`).toString('base64')}`,
        ];
        expect((await ask(url, `GET /v1/${project.slug}`, paid)).status).toBe(header === 'SIGN-IN-WITH-X' ? 402 : 400);
      }
    }
  });

  test('in the extensions of a payment', async () => {
    const extensions = JSON.parse(
      '{"constructor":{"prototype":{"polluted":true}},"payment-identifier":{"info":{"id":"constructor"}}}',
    );
    const header = encodeHeader({ x402Version: 2, accepted: {}, payload: { transaction: 'AAAA' }, extensions });
    const { project, key } = fixture();
    const { status } = await ask(
      url,
      `GET /v1/${project.slug}`,
      linesOf({ ...key.headers, 'payment-signature': header }),
    );
    expect(status).toBe(400);
  });
});
