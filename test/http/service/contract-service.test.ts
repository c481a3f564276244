import { useContractFixture } from '../../helpers/fixtures/contract-fixture.js';

const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const VERSION = /^\d+\.\d+\.\d+$/;

const fixture = useContractFixture();
const get = (path: string, headers = {}) => fixture().ask('GET', path, undefined, headers);

test('GET / tells the service, its version, its features and its twelve paths', async () => {
  const { status, body, headers } = await get('/');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(body).toEqual({
    service: expect.any(String),
    version: expect.stringMatching(VERSION),
    features: expect.arrayContaining(['multi-token', 'zero-fee', 'token-gated']),
    endpoints: {
      core: ['/', '/health', '/supported', '/discovery'],
      facilitation: ['/create-payment', '/settle', '/verify', '/wallet-status'],
      token_gateway: [
        '/token-gate/check-access',
        '/token-gate/get-tier',
        '/token-gate/accepted-tokens',
        '/token-gate/tiers',
      ],
    },
  });
});

test('every path that GET / names is there', async () => {
  const { body } = await get('/');
  const paths = Object.values(body['endpoints'] as Record<string, string[]>).flat();
  expect(paths).toHaveLength(12);
  for (const path of paths) expect((await get(path)).status).not.toBe(404);
});

test('GET /health tells the networks and the facilitation', async () => {
  const { status, body } = await get('/health');
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'healthy',
    version: (await get('/')).body['version'],
    networks: { 'solana-devnet': 'active' },
    facilitation: { status: 'enabled', wallet: expect.stringMatching(ADDRESS) },
  });
});

test('GET /supported tells the networks beside the kinds of x402', async () => {
  const { status, body } = await get('/supported');
  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual(['extensions', 'kinds', 'networks', 'signers']);
  const { networks } = body as { networks: Record<string, Record<string, unknown>> };
  expect(Object.keys(networks)).toEqual(['solana-devnet']);
  expect(networks['solana-devnet']).toEqual({
    name: 'Solana Devnet',
    type: 'svm',
    tokens: expect.arrayContaining(['SOL', 'USDC', 'USDT']),
  });
});

test('GET /wallet-status refuses the wallet of somebody else, whose balances it does not tell', async () => {
  const { status, body } = await get('/wallet-status?wallet=B4RvNpz2DhCZBUPrxXA8Y1x9GzEaHBAKdnZKTMsTdSzD');
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 'invalid_request', param: 'wallet' });
});

test('GET /wallet-status tells the balances of the wallet that GET /health names', async () => {
  const { status, body } = await get('/wallet-status');
  expect(status).toBe(200);
  const { facilitation } = (await get('/health')).body as { facilitation: { wallet: string } };
  expect(body).toEqual({
    wallet: facilitation.wallet,
    balances: { SOL: expect.any(Number), USDC: 0, USDT: 0 },
    operational: true,
  });
  const { balances } = body as { balances: { SOL: number } };
  expect(balances.SOL).toBe(Number(fixture().sandbox.balance(facilitation.wallet)) / 1e9);
});

test('GET /discovery tells what can be bought, in the shape of x402, and the service', async () => {
  const { status, body } = await get('/discovery');
  expect(status).toBe(200);
  expect(body).toEqual({
    x402Version: 2,
    items: [expect.objectContaining({ resource: `${fixture().server.url}/demo`, type: 'http' })],
    pagination: { limit: 20, offset: 0, total: 1 },
    service: (await get('/')).body,
  });
});

test.each(['/healthz', '/readyz', '/metrics', '/openapi.json', '/.well-known/x402', '/.well-known/jwks.json'])(
  'GET %s answers',
  async (path) => {
    expect((await get(path)).status).toBe(200);
  },
);

test('the explorer is told which cluster is meant', async () => {
  const signature = '5'.repeat(88);
  const there = await get(`/explorer/tx/${signature}`);
  expect([there.status, there.headers.get('location')]).toEqual([
    302,
    `https://explorer.solana.com/tx/${signature}?cluster=devnet`,
  ]);
  const nowhere = await get('/explorer/tx/none');
  expect([nowhere.status, nowhere.body['code']]).toEqual([400, 'invalid_signature']);
});

test.each([
  ['POST', '/', 'GET, HEAD'],
  ['POST', '/health', 'GET, HEAD'],
  ['DELETE', '/supported', 'GET, HEAD'],
  ['POST', '/discovery', 'GET, HEAD'],
  ['GET', '/create-payment', 'POST'],
  ['PUT', '/settle', 'POST'],
  ['GET', '/verify', 'POST'],
  ['POST', '/wallet-status', 'GET, HEAD'],
  ['GET', '/token-gate/check-access', 'POST'],
  ['POST', '/token-gate/get-tier', 'GET, HEAD'],
  ['POST', '/token-gate/accepted-tokens', 'GET, HEAD'],
  ['POST', '/token-gate/tiers', 'GET, HEAD'],
  ['POST', '/payments/pay_1', 'GET, HEAD'],
  ['DELETE', '/payments/pay_1/transaction', 'GET, HEAD, POST'],
  ['POST', '/explorer/tx/x', 'GET, HEAD'],
  ['POST', '/openapi.json', 'GET, HEAD'],
])('%s %s is the wrong method: 405 with Allow', async (method, path, allow) => {
  const { status, body, headers } = await fixture().ask(method, path);
  expect([status, body['code'], headers.get('allow')]).toEqual([405, 'method_not_allowed', allow]);
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
});

test.each(['/create-payments', '/token-gate', '/api/v1/nothing'])('there is nothing at %s: 404', async (path) => {
  const { status, body, headers } = await get(path);
  expect(status).toBe(404);
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(body).toEqual({
    type: expect.any(String),
    title: expect.any(String),
    status: 404,
    detail: expect.stringContaining(path),
    code: 'not_found',
    retryable: false,
    request_id: headers.get('x-request-id'),
  });
});

describe.each(['/create-payment', '/settle', '/verify', '/token-gate/check-access'])('POST %s', (path) => {
  const post = (body: string, headers = {}) => fixture().ask('POST', path, body, headers);
  test.each([
    ['no JSON', '{"a":', {}, 400, 'invalid_json'],
    ['a body that is too large', JSON.stringify({ a: 'x'.repeat(101 * 1024) }), {}, 413, 'body_too_large'],
    ['text', '{}', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['nothing that it needs', '{}', {}, 400, undefined],
    ['an array', '[]', {}, 400, undefined],
  ])('refuses %s with a problem', async (_name, body, headers, status, code) => {
    const answer = await post(body, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({ status, request_id: answer.headers.get('x-request-id') });
    if (code !== undefined) expect(answer.body['code']).toBe(code);
  });
});

test('an address that cannot be decoded is 400', async () => {
  const { status, body } = await get('/payments/%zz');
  expect([status, body['code']]).toEqual([400, 'invalid_request']);
});
