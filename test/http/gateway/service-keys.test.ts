import { readFileSync } from 'node:fs';
import { KEYS_OPERATIONS } from '../../../src/http/keys/operations.js';
import { openApiDocument } from '../../../src/http/openapi/openapi.js';
import { NOON } from '../../helpers/fixtures/identity-fixture.js';
import { type KeysFixture, keyHeaders, openKeysFixture } from '../../helpers/fixtures/keys-fixture.js';
import { DAILY_EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { createConformance, type OpenApi } from '../../helpers/http/documented.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const alice = walletKey('alice');
const bob = walletKey('bob');
const folder = testFolder();
const DAY_MS = 86_400_000;
const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const faultsOf = createConformance(openApiDocument('test', '1', KEYS_OPERATIONS) as object as OpenApi);

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

describe.each(DAILY_EXPRESSES)('/api/v1/keys, %s', (_name, express) => {
  let keys: KeysFixture;
  let path: string;
  let url: string;
  let asAlice: ProofHeaders;
  let asBob: ProofHeaders;

  beforeEach(async () => {
    path = folder.newPath('db');
    const owners: Readonly<Record<string, string>> = { prj_alice: alice.address, prj_bob: bob.address };
    keys = await openKeysFixture(path, { projectOwner: async (id) => owners[id] });
    url = await keys.serve(express);
    [asAlice, asBob] = [await keys.token(alice), await keys.token(bob)];
  });
  afterEach(() => keys.close());

  /** Asks; the response must be as the OpenAPI document says. */
  async function ask(method: string, route: string, headers: ProofHeaders = asAlice, body?: unknown): Promise<Answer> {
    const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/v1/keys${route}`, { method, headers: { ...type, ...headers }, ...content });
    const text = await answer.text();
    const { status } = answer;
    if (status !== 405)
      expect(faultsOf(method, `/api/v1/keys${route}`, { status, headers: answer.headers, text })).toEqual([]);
    if (status !== 405) expect(answer.headers.get('cache-control')).toBe('no-store');
    return { status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
  }

  const generate = (body: object = {}, headers?: ProofHeaders) =>
    ask('POST', '/generate', headers, { name: 'my key', ...body });
  const codeOf = ({ status, body }: Answer) => [status, body['code']];
  const headersOf = ({ body }: Answer) => ({
    'x-service-key': String(body['api_key']),
    'x-service-secret': String(body['api_secret']),
  });

  test('a wallet makes itself a key with what is usual, and sees the secret once', async () => {
    const made = await generate();
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^key_\w+$/),
      api_key: expect.stringMatching(/^toll_pk_test_[0-9A-Za-z]{22}$/),
      api_secret: expect.stringMatching(/^toll_sk_test_[0-9A-Za-z]{49}$/),
      name: 'my key',
      project_id: null,
      scopes: ['call', 'spending:read'],
      mode: 'test',
      status: 'active',
      expires_at: null,
      spending: null,
      allowed_ips: [],
      allowed_projects: [],
      limits: { per_second: null },
      metadata: {},
      created_at: new Date(NOON).toISOString(),
      last_used_at: null,
      previous_secret_expires_at: null,
      revoked_at: null,
    });
    const location = made.headers.get('location') ?? '';
    expect(location).toBe(`/api/v1/keys/${made.body['id']}`);
    const { api_secret: _secret, ...rest } = made.body;
    expect((await ask('GET', location.slice('/api/v1/keys'.length))).body).toEqual(rest);
    expect((await ask('GET', '')).body).toEqual({ object: 'list', data: [rest], has_more: false, next_cursor: null });
  });

  test('a key is as it was asked for', async () => {
    const asked = {
      project_id: 'prj_alice',
      scopes: ['projects:read', 'call', 'call'],
      mode: 'live',
      expires_at: '2030-01-02T03:04:05+01:00',
      spending: { limit: '12.50', token: 'usdc', window: 'day' },
      allowed_ips: ['203.0.113.9/24', '2001:DB8::1'],
      limits: { per_second: 7 },
      metadata: { team: 'blue' },
    };
    const { body } = await generate(asked);
    expect(body).toMatchObject({
      ...asked,
      scopes: ['projects:read', 'call'],
      expires_at: '2030-01-02T02:04:05.000Z',
      spending: { limit: '12.5', limit_atomic: '12500000', token: 'USDC', mint: USDC, window: 'day', action: 'block' },
      allowed_ips: ['203.0.113.0/24', '2001:db8::1'],
    });
    expect(body['api_key']).toMatch(/^toll_pk_live_/);
  });

  test.each([
    ['/name', { name: undefined }],
    ['/name', { name: '  ' }],
    ['/name', { name: 'a\u0000b' }],
    ['/name', { name: 'x'.repeat(81) }],
    ['/scopes/0', { scopes: ['everything'] }],
    ['/scopes', { scopes: [] }],
    ['/mode', { mode: 'prod' }],
    ['/expires_at', { expires_at: 'tomorrow' }],
    ['/expires_at', { expires_at: '2020-01-02T03:04:05Z' }],
    ['/spending/limit', { spending: { limit: '1.0000001', token: 'USDC', window: 'day' } }],
    ['/spending/limit', { spending: { limit: -1, token: 'USDC', window: 'day' } }],
    ['/spending/token', { spending: { limit: 1, token: 'DOGE', window: 'day' } }],
    ['/spending/window', { spending: { limit: 1, token: 'USDC', window: 'decade' } }],
    ['/spending/action', { spending: { limit: 1, token: 'USDC', window: 'day', action: 'shout' } }],
    ['/allowed_ips/1', { allowed_ips: ['203.0.113.9', 'localhost'] }],
    ['/limits/per_second', { limits: { per_second: 0 } }],
    ['/limits/per_second', { limits: { per_second: 101 } }],
    ['/metadata/a', { metadata: { a: 1 } }],
    ['/metadata', { metadata: { a: '語'.repeat(400), b: '語'.repeat(400) } }],
    ['/project_id', { project_id: 'prj_bob' }],
    ['/project_id', { project_id: 'prj_none' }],
    ['/secret', { secret: 'mine' }],
    ['/budgt', { budgt: {} }],
    ['/spending/windw', { spending: { limit: 1, token: 'USDC', window: 'day', windw: 'day' } }],
  ])('422 points at %s', async (pointer, body) => {
    const answer = await generate(body);
    expect(codeOf(answer)).toEqual([422, 'validation_failed']);
    expect(answer.body['errors']).toEqual([expect.objectContaining({ pointer })]);
    expect((await ask('GET', '')).body['data']).toEqual([]);
  });

  test.each([
    [{ expire_at: '2030-01-02T03:04:05Z' }, '/expire_at: is no field of this request; did you mean "expires_at"?'],
    [{ budget: {} }, '/budget: is no field of this request; did you mean "spending"?'],
    [
      { spending: { limit: 1, token: 'USDC', windw: 'day' } },
      '/spending/windw: is no field of this request; did you mean "window"?',
    ],
  ])('for the unknown field in %j the likely one is named', async (body, sentence) => {
    const answer = await generate(body);
    expect(codeOf(answer)).toEqual([422, 'validation_failed']);
    expect(answer.body['detail']).toContain(sentence);
  });

  test('bad JSON is 400, another type 415, and a method that is not there 405', async () => {
    expect(codeOf(await ask('POST', '/generate', asAlice, '{'))).toEqual([400, 'invalid_json']);
    const text = { ...asAlice, 'content-type': 'text/plain' };
    expect(codeOf(await ask('POST', '/generate', text, 'x'))).toEqual([415, 'unsupported_media_type']);
    for (const [method, route, allow] of [
      ['DELETE', '', 'GET, HEAD'],
      ['GET', '/generate', 'POST'],
      ['PUT', '/key_1', 'GET, HEAD, PATCH, DELETE'],
      ['GET', '/key_1/rotate', 'POST'],
    ] as const) {
      const answer = await ask(method, route);
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    }
  });

  test('test keys are not made on mainnet', async () => {
    url = await keys.serve(express, undefined, keys.another({ mode: 'live' }));
    expect((await generate({ mode: 'test' })).body['errors']).toEqual([expect.objectContaining({ pointer: '/mode' })]);
    expect((await generate()).body).toMatchObject({ mode: 'live' });
  });

  test('nobody sees or touches the keys of others', async () => {
    const { body } = await generate();
    expect((await ask('GET', '', asBob)).body['data']).toEqual([]);
    for (const [method, route] of [
      ['GET', ''],
      ['POST', '/rotate'],
      ['DELETE', ''],
    ] as const) {
      expect(codeOf(await ask(method, `/${body['id']}${route}`, asBob))).toEqual([404, 'not_found']);
      expect(codeOf(await ask(method, `/key_1%00${route}`))).toEqual([404, 'not_found']);
    }
    expect((await ask('GET', `/${body['id']}`)).body).toMatchObject({ status: 'active' });
  });

  test('the list comes in pages, and a cursor that is none is 422', async () => {
    const made: unknown[] = [];
    for (let n = 0; n < 5; n += 1) {
      made.unshift((await generate()).body['id']);
      keys.fixture.advance(n % 2);
    }
    const seen: unknown[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await ask('GET', `?limit=2${cursor}`);
      seen.push(...(body['data'] as { id: string }[]).map(({ id }) => id));
      if (body['has_more'] !== true) break;
      cursor = `&cursor=${body['next_cursor']}`;
    }
    expect(seen).toHaveLength(5);
    expect(new Set(seen)).toEqual(new Set(made));
    expect(seen[0]).toBe(made[0]);
    for (const query of ['cursor=x', 'cursor=WzEsMl0', 'limit=0', 'limit=101', 'limit=x']) {
      expect(codeOf(await ask('GET', `?${query}`))).toEqual([422, 'validation_failed']);
    }
  });

  test('a rotated key has a new secret, and the old one is good for a day', async () => {
    const made = await generate({ scopes: ['keys:read'] });
    const rotated = await ask('POST', `/${made.body['id']}/rotate`);
    expect(rotated.status).toBe(200);
    const until = new Date(NOON + DAY_MS).toISOString();
    expect(rotated.body).toMatchObject({ api_key: made.body['api_key'], previous_secret_expires_at: until });
    expect(rotated.body['api_secret']).not.toBe(made.body['api_secret']);
    keys.fixture.advance(DAY_MS - 1);
    expect((await ask('GET', '', headersOf(made))).status).toBe(200);
    keys.fixture.advance(1);
    expect(codeOf(await ask('GET', '', headersOf(made)))).toEqual([401, 'invalid_service_key']);
    expect((await ask('GET', '', headersOf(rotated))).status).toBe(200);
    const { previous_secret_expires_at: over } = (await ask('GET', `/${made.body['id']}`, headersOf(rotated))).body;
    expect(over).toBeNull();
  });

  test('a rotation ends the old secret when it is told to, at once or after so many seconds', async () => {
    const made = await generate({ scopes: ['keys:read'] });
    const rotate = (body: unknown) => ask('POST', `/${made.body['id']}/rotate`, asAlice, body);
    const hour = await rotate({ expire_old_in: 3_600 });
    expect(hour.body['previous_secret_expires_at']).toBe(new Date(NOON + 3_600_000).toISOString());
    keys.fixture.advance(3_599_999);
    expect((await ask('GET', '', headersOf(made))).status).toBe(200);
    keys.fixture.advance(1);
    expect((await ask('GET', '', headersOf(made))).status).toBe(401);

    asAlice = await keys.token(alice);
    const now = await rotate({ expire_old_in: 0 });
    expect(now.body['previous_secret_expires_at']).toBeNull();
    expect(codeOf(await ask('GET', '', headersOf(hour)))).toEqual([401, 'invalid_service_key']);
    expect((await ask('GET', '', headersOf(now))).status).toBe(200);

    for (const wrong of [-1, 0.5, 2_592_001, '0', null, 1e300]) {
      expect(codeOf(await rotate({ expire_old_in: wrong }))).toEqual([422, 'validation_failed']);
    }
    expect(codeOf(await rotate({ expire_old: 0 }))).toEqual([422, 'validation_failed']);
    expect((await ask('GET', '', headersOf(now))).status).toBe(200);
  });

  test('after two rotations the first secret is no longer good', async () => {
    const made = await generate({ scopes: ['keys:read'] });
    await ask('POST', `/${made.body['id']}/rotate`);
    await ask('POST', `/${made.body['id']}/rotate`);
    expect(codeOf(await ask('GET', '', headersOf(made)))).toEqual([401, 'invalid_service_key']);
  });

  test('a revoked key is refused at once, stays in the list, and is not rotated any more', async () => {
    const made = await generate({ scopes: ['keys:read'] });
    const id = made.body['id'];
    expect((await ask('GET', '', headersOf(made))).status).toBe(200);
    expect((await ask('DELETE', `/${id}`)).status).toBe(204);
    expect(codeOf(await ask('GET', '', headersOf(made)))).toEqual([401, 'service_key_revoked']);
    const revoked = { status: 'revoked', revoked_at: new Date(NOON).toISOString() };
    expect((await ask('GET', `/${id}`)).body).toMatchObject(revoked);
    expect((await ask('DELETE', `/${id}`)).status).toBe(204);
    expect(codeOf(await ask('POST', `/${id}/rotate`))).toEqual([404, 'not_found']);
  });

  test('every change is told once, without a secret', async () => {
    const made = await generate({ project_id: 'prj_alice' });
    await ask('POST', `/${made.body['id']}/rotate`);
    await ask('DELETE', `/${made.body['id']}`);
    await ask('DELETE', `/${made.body['id']}`);
    const all = { name: 'all_events', text: 'select type, owner, project_id, data from tollhouse_event order by seq' };
    const events = await keys.database.query(all);
    expect(events.map(({ type }) => type)).toEqual(['key.created', 'key.rotated', 'key.revoked']);
    for (const { owner, project_id, data } of events) {
      expect([owner, project_id]).toEqual([alice.address, 'prj_alice']);
      expect(JSON.parse(String(data))).toEqual({
        key_id: made.body['id'],
        api_key: made.body['api_key'],
        name: 'my key',
        mode: 'test',
        scopes: ['call', 'spending:read'],
      });
    }
  });

  test('a key does what its scopes say, in its project only', async () => {
    const reader = headersOf(await generate({ scopes: ['keys:read'], project_id: 'prj_alice' }));
    const other = await generate();
    const list = (await ask('GET', '', reader)).body['data'] as readonly object[];
    expect(list).toEqual([expect.objectContaining({ project_id: 'prj_alice' })]);
    expect(codeOf(await ask('GET', `/${other.body['id']}`, reader))).toEqual([404, 'not_found']);
    expect(codeOf(await ask('DELETE', `/${other.body['id']}`, reader))).toEqual([403, 'insufficient_scope']);
    expect(codeOf(await ask('GET', '', headersOf(other)))).toEqual([403, 'insufficient_scope']);
  });

  test('a key makes no keys, gives no other a new secret, and may renew itself', async () => {
    const writer = await generate({ scopes: ['keys:write'] });
    const other = await generate({ scopes: ['payouts:write'] });
    expect(codeOf(await generate({}, headersOf(writer)))).toEqual([403, 'insufficient_scope']);
    const rotate = (id: unknown) => ask('POST', `/${id}/rotate`, headersOf(writer));
    expect(codeOf(await rotate(other.body['id']))).toEqual([403, 'insufficient_scope']);
    expect((await rotate(writer.body['id'])).status).toBe(200);
    expect((await ask('DELETE', `/${other.body['id']}`, headersOf(writer))).status).toBe(204);
  });

  test('who shows nothing, half a key or a bad token is told so', async () => {
    const made = headersOf(await generate());
    const half = { 'x-service-key': made['x-service-key'] };
    expect(codeOf(await ask('GET', '', {}))).toEqual([401, 'unauthenticated']);
    expect(codeOf(await ask('GET', '', half))).toEqual([401, 'unauthenticated']);
    expect(codeOf(await ask('GET', '', { authorization: 'Bearer x' }))).toEqual([401, 'invalid_access_token']);
    const both = await ask('GET', '', { ...asAlice, ...made });
    expect(codeOf(both)).toEqual([403, 'insufficient_scope']);
  });

  test('a secret is never on the disk', async () => {
    const made = await generate();
    const rotated = await ask('POST', `/${made.body['id']}/rotate`);
    await ask('GET', '', headersOf(rotated));
    const files = ['', '-wal'].map((end) => readFileSync(path + end, 'latin1')).join('');
    expect(files).toContain(made.body['api_key']);
    for (const { body } of [made, rotated]) {
      const secret = String(body['api_secret']);
      for (const part of [secret, secret.slice(13), secret.slice(13, 40)]) expect(files).not.toContain(part);
    }
  });

  test('while the store is away keys are answered 503', async () => {
    const made = await keys.make(alice.address, { scopes: ['keys:read'] });
    await keys.database.close();
    expect(codeOf(await ask('GET', '', keyHeaders(made)))).toEqual([503, 'store_unavailable']);
    expect(codeOf(await ask('GET', ''))).toEqual([503, 'store_unavailable']);
  });
});
