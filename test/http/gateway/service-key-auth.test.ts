import { randomBytes } from 'node:crypto';
import type { RequestHandler } from 'express';
import { newPublicKey, newSecret } from '../../../src/identity/service-keys/service-key.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { createGate } from '../../../src/middleware/gate/gate.js';
import { sendProblem } from '../../../src/middleware/gate/respond.js';
import { type ServiceKeyAuthOptions, serviceKeyAuth } from '../../../src/middleware/service-key/service-key-auth.js';
import { logRequests, type RequestLogger } from '../../../src/middleware/tracing/request-log.js';
import { createSqlServiceKeys } from '../../../src/storage/keys/sql-service-keys.js';
import { NOON } from '../../helpers/fixtures/identity-fixture.js';
import { type KeysFixture, keyHeaders, openKeysFixture } from '../../helpers/fixtures/keys-fixture.js';
import { DAILY_EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';
import { until } from '../../helpers/until.js';

const alice = walletKey('alice');
const folder = testFolder();
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOME = '203.0.113.9';
const tell: RequestHandler = (req, res) => void res.json({ key: req.serviceKey, paid: req.get('x-paid') });
/** Stands for a payment gate: asks to pay whoever has not. */
const pay = createGate('pay', async (req, res) =>
  req.get('x-paid') === undefined
    ? {
        admitted: false,
        wants: 'payment',
        presented: false,
        answer: () => sendProblem(res, 'payment_required', 'Pay.'),
      }
    : { admitted: true, enter: (next) => next() },
);

describe.each(DAILY_EXPRESSES)('serviceKeyAuth, %s', (_name, express) => {
  let keys: KeysFixture;
  let url: string;
  let lines: string[];

  beforeEach(async () => {
    keys = await openKeysFixture(folder.newPath('db'));
    lines = [];
    url = await serveGates();
  });
  afterEach(() => keys.close());

  function serveGates(served = keys.keys): Promise<string> {
    const gateway = { keys: served };
    const write = (...line: unknown[]) => void lines.push(JSON.stringify(line));
    const logger: RequestLogger = { info: write, error: write };
    const addGates: Parameters<KeysFixture['serve']>[1] = (app) => {
      app.use(logRequests(logger));
      app.all('/call', serviceKeyAuth({ gateway }), tell);
      app.get('/figures', serviceKeyAuth({ gateway, scopes: ['call', 'analytics:read'] }), tell);
      app.get('/either', anyOf(serviceKeyAuth({ gateway }), pay), tell);
      app.get('/twice', serviceKeyAuth({ gateway }), serviceKeyAuth({ gateway, scopes: [] }), tell);
    };
    return keys.serve(express, addGates, served);
  }

  const call = (headers: ProofHeaders = {}, path = '/call', base = url) =>
    fetch(base + path, { headers: { 'x-forwarded-for': HOME, ...headers } });

  /** Status and code of a response. */
  async function outcomeOf(answering: Promise<Response>): Promise<readonly unknown[]> {
    const answer = await answering;
    const { code } = (await answer.json()) as { readonly code?: string };
    return code === undefined ? [answer.status] : [answer.status, code];
  }

  test('a key with the scope comes in, and the handler knows whose it is', async () => {
    const made = await keys.make(alice.address, { metadata: { team: 'blue' } });
    const answer = await call(keyHeaders(made));
    const { id } = made.key;
    const expected = {
      id,
      owner: alice.address,
      mode: 'test',
      scopes: ['call', 'spending:read'],
      metadata: { team: 'blue' },
    };
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ key: expected });
    expect(answer.headers.get('vary')).toContain('X-Service-Key, X-Service-Secret');
    expect(answer.headers.get('cache-control')).toBe('private');
  });

  test('a gate whose project is no id of one is told so when it is made', () => {
    for (const project of ['weather', '', 7]) {
      const made = () => serviceKeyAuth({ gateway: { keys: keys.keys }, ...{ project: project as string } });
      expect(made).toThrow(/"project" must be the id of a project/);
    }
  });

  test('without a key, with half of one, or with one in the query, 401 says what to send', async () => {
    const made = await keys.make(alice.address);
    const { 'x-service-key': key, 'x-service-secret': secret } = keyHeaders(made);
    const query = `/call?x-service-key=${key}&x-service-secret=${secret}&api_key=${key}&api_secret=${secret}`;
    for (const answering of [
      call(),
      call({ 'x-service-key': key! }),
      call({ 'x-service-secret': secret! }),
      call({}, query),
    ]) {
      expect((await answering).headers.get('www-authenticate')).toMatch(/^ServiceKey realm="tollhouse"/);
      expect(await outcomeOf(answering)).toEqual([401, 'unauthenticated']);
    }
  });

  test('an unknown key, a wrong secret and no secret at all have the same answer', async () => {
    const made = await keys.make(alice.address);
    const other = await keys.make(alice.address);
    const bodies: unknown[] = [];
    for (const headers of [
      { ...keyHeaders(made), 'x-service-key': `toll_pk_test_${'a'.repeat(22)}` },
      { ...keyHeaders(made), 'x-service-secret': other.secret },
      { ...keyHeaders(made), 'x-service-secret': 'x' },
      { ...keyHeaders(made), 'x-service-secret': `${made.secret.slice(0, -1)}_` },
      { ...keyHeaders(made), 'x-service-key': 'x' },
    ]) {
      const answer = await call(headers);
      const { request_id: _id, ...body } = (await answer.json()) as Record<string, unknown>;
      bodies.push([answer.status, answer.headers.get('www-authenticate'), body]);
    }
    expect(bodies[0]).toEqual([401, expect.anything(), expect.objectContaining({ code: 'invalid_service_key' })]);
    for (const body of bodies) expect(body).toEqual(bodies[0]);
  });

  test('a secret with a wrong check sum never reaches the store', async () => {
    const made = await keys.make(alice.address);
    await keys.database.close();
    const swapped = made.secret.slice(0, -1) + (made.secret.endsWith('a') ? 'b' : 'a');
    expect(await outcomeOf(call({ ...keyHeaders(made), 'x-service-secret': swapped }))).toEqual([
      401,
      'invalid_service_key',
    ]);
    expect(await outcomeOf(call(keyHeaders(made)))).toEqual([503, 'store_unavailable']);
  });

  test('a key without one of the scopes is 403, and is told which', async () => {
    const answer = await call(keyHeaders(await keys.make(alice.address)), '/figures');
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      code: 'insufficient_scope',
      detail: expect.stringContaining('"analytics:read"'),
    });
    const able = await keys.make(alice.address, { scopes: ['analytics:read', 'call'] });
    expect(await outcomeOf(call(keyHeaders(able), '/figures'))).toEqual([200]);
  });

  test('an expired key is told so, from the millisecond on', async () => {
    const made = await keys.make(alice.address, { expiresAt: NOON + MINUTE_MS });
    keys.fixture.advance(MINUTE_MS - 1);
    expect(await outcomeOf(call(keyHeaders(made)))).toEqual([200]);
    keys.fixture.advance(1);
    expect(await outcomeOf(call(keyHeaders(made)))).toEqual([401, 'service_key_expired']);
  });

  test.each([
    ['203.0.113.9', '203.0.113.9', 200],
    ['203.0.113.0/24', '203.0.113.77', 200],
    ['203.0.113.0/24', '::ffff:203.0.113.77', 200],
    ['203.0.113.0/24', '203.0.114.77', 403],
    ['2001:db8::/32', '2001:db8::7', 200],
    ['2001:db8::/32', '203.0.113.9', 403],
  ])('a key for %s, used from %s, is %i', async (allowed, address, status) => {
    const made = await keys.make(alice.address, { allowedIps: [allowed] });
    const [got, code] = await outcomeOf(call({ ...keyHeaders(made), 'x-forwarded-for': address }));
    expect([got, code]).toEqual([status, status === 200 ? undefined : 'address_not_allowed']);
  });

  test('test keys are refused on mainnet, live ones are not', async () => {
    const [testKey, liveKey] = [await keys.make(alice.address), await keys.make(alice.address, { mode: 'live' })];
    const mainnet = await serveGates(keys.another({ mode: 'live' }));
    expect(await outcomeOf(call(keyHeaders(testKey), '/call', mainnet))).toEqual([403, 'wrong_key_mode']);
    expect(await outcomeOf(call(keyHeaders(liveKey), '/call', mainnet))).toEqual([200]);
    expect(await outcomeOf(call(keyHeaders(liveKey)))).toEqual([200]);
  });

  test('what another process has revoked is refused within 30 s, and looked up no sooner than it must be', async () => {
    const made = await keys.make(alice.address);
    const second = await serveGates(keys.another());
    expect(await outcomeOf(call(keyHeaders(made), '/call', second))).toEqual([200]);
    await keys.keys.revoke({ wallet: alice.address }, made.key.id);
    expect(await outcomeOf(call(keyHeaders(made)))).toEqual([401, 'service_key_revoked']);
    expect(await outcomeOf(call(keyHeaders(made), '/call', second))).toEqual([200]);
    keys.fixture.advance(30 * SECOND_MS);
    expect(await outcomeOf(call(keyHeaders(made), '/call', second))).toEqual([401, 'service_key_revoked']);
  });

  test('a secret that another process has just given out is good everywhere', async () => {
    const made = await keys.make(alice.address);
    const second = await serveGates(keys.another());
    expect(await outcomeOf(call(keyHeaders(made), '/call', second))).toEqual([200]);
    const rotated = await keys.keys.rotate({ wallet: alice.address }, made.key.id);
    keys.fixture.advance(SECOND_MS);
    expect(await outcomeOf(call(keyHeaders(rotated), '/call', second))).toEqual([200]);
    expect(await outcomeOf(call(keyHeaders(made), '/call', second))).toEqual([200]);
  });

  test('a secret that was ended at once is good nowhere after 30 seconds', async () => {
    const made = await keys.make(alice.address);
    const second = await serveGates(keys.another());
    expect(await outcomeOf(call(keyHeaders(made), '/call', second))).toEqual([200]);
    const rotated = await keys.keys.rotate({ wallet: alice.address }, made.key.id, 0);
    expect(await outcomeOf(call(keyHeaders(made)))).toEqual([401, 'invalid_service_key']);
    expect(await outcomeOf(call(keyHeaders(rotated)))).toEqual([200]);
    keys.fixture.advance(30 * SECOND_MS);
    expect(await outcomeOf(call(keyHeaders(made), '/call', second))).toEqual([401, 'invalid_service_key']);
    expect(await outcomeOf(call(keyHeaders(rotated), '/call', second))).toEqual([200]);
  });

  test('the last use is noted, at most once a minute', async () => {
    const made = await keys.make(alice.address);
    const lastUse = async () => (await keys.keys.get({ wallet: alice.address }, made.key.id)).lastUsedAt;
    await call(keyHeaders(made));
    await until(async () => (await lastUse()) === NOON);
    keys.fixture.advance(MINUTE_MS - 1);
    await call(keyHeaders(made));
    expect(await lastUse()).toBe(NOON);
    keys.fixture.advance(1);
    await call(keyHeaders(made));
    await until(async () => (await lastUse()) === NOON + MINUTE_MS);
  });

  describe('limits', () => {
    test('25 requests a second, then 429 until the second is over; the answers tell', async () => {
      const headers = keyHeaders(await keys.make(alice.address));
      const first = await call(headers);
      expect(first.headers.get('ratelimit-policy')).toBe('"key"; q=25; w=1');
      expect(first.headers.get('ratelimit')).toBe('"key"; r=24; t=1');
      const others = await Promise.all(Array.from({ length: 24 }, () => outcomeOf(call(headers))));
      expect(others).toEqual(Array(24).fill([200]));
      const refused = await call(headers);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
      expect(await refused.json()).toMatchObject({ code: 'rate_limited', retryable: true });
      keys.fixture.advance(SECOND_MS + 1);
      expect(await outcomeOf(call(headers))).toEqual([200]);
    });

    test('a key’s own limit counts, for that key alone, and a request with two gates once', async () => {
      const slow = keyHeaders(await keys.make(alice.address, { perSecond: 2 }));
      const statuses = [];
      for (let n = 0; n < 3; n += 1) statuses.push((await call(slow, '/twice')).status);
      expect(statuses).toEqual([200, 200, 429]);
      expect(await outcomeOf(call(keyHeaders(await keys.make(alice.address))))).toEqual([200]);
    });
  });

  describe('guessing', () => {
    /** Failures from one address at one key. */
    async function guess(times: number, headers: ProofHeaders): Promise<number[]> {
      const statuses: number[] = [];
      for (let n = 0; n < times; n += 1) statuses.push((await call(headers)).status);
      return statuses;
    }
    const all = (times: number, status: number) => Array<number>(times).fill(status);

    test('ten failures a minute lock an address out, for longer each time; a right pair comes in, from there as well', async () => {
      const [made, other] = [await keys.make(alice.address), await keys.make(alice.address)];
      const wrong = { ...keyHeaders(made), 'x-service-secret': other.secret, 'x-forwarded-for': '198.51.100.1' };
      expect(await guess(12, wrong)).toEqual([...all(10, 401), 429, 429]);
      const right = { ...keyHeaders(made), 'x-forwarded-for': '198.51.100.1' };
      const locked = await call(wrong);
      expect([locked.status, locked.headers.get('retry-after')]).toEqual([429, '60']);
      expect(await outcomeOf(call(right))).toEqual([200]);
      expect(await outcomeOf(call(keyHeaders(made)))).toEqual([200]);
      keys.fixture.advance(MINUTE_MS + 1);
      expect(await guess(11, wrong)).toEqual([...all(10, 401), 429]);
      expect((await call(wrong)).headers.get('retry-after')).toBe('120');
      keys.fixture.advance(2 * MINUTE_MS);
      expect(await outcomeOf(call(right))).toEqual([200]);
    });

    test('who is locked out has the store asked sixty times a minute at most, and a key that is known comes in all the same', async () => {
      const made = await keys.make(alice.address);
      const store = createSqlServiceKeys(keys.database);
      let lookUps = 0;
      const counted: typeof store = {
        ...store,
        findByPublicKey: (publicKey) => {
          lookUps += 1;
          return store.findByPublicKey(publicKey);
        },
      };
      const base = await serveGates(keys.another({ store: counted }));
      expect(await outcomeOf(call(keyHeaders(made), '/call', base))).toEqual([200]);
      for (let n = 0; n < 90; n += 1) {
        const pair = {
          'x-service-key': newPublicKey('test', randomBytes),
          'x-service-secret': newSecret('test', randomBytes),
        };
        await (await call(pair, '/call', base)).arrayBuffer();
      }

      // Ten before it was locked out; the wrong ones are looked for once each, as they are not known.
      expect(lookUps).toBeLessThanOrEqual(1 + 2 * (10 + 60));
      const before = lookUps;
      expect(await outcomeOf(call(keyHeaders(made), '/call', base))).toEqual([200]);
      expect(lookUps - before).toBeLessThanOrEqual(1);
    });

    test('keys that are made up count as well', async () => {
      const wrong = { 'x-service-key': 'x', 'x-service-secret': 'x', 'x-forwarded-for': '198.51.100.1' };
      expect(await guess(11, wrong)).toEqual([...all(10, 401), 429]);
    });

    test('a key that many addresses guess at gives each one guess, and its holder comes in', async () => {
      const [made, other] = [await keys.make(alice.address), await keys.make(alice.address)];
      const wrong = { ...keyHeaders(made), 'x-service-secret': other.secret };
      for (let n = 1; n <= 10; n += 1) await call({ ...wrong, 'x-forwarded-for': `198.51.100.${n}` });
      const from = (address: string) => guess(2, { ...wrong, 'x-forwarded-for': address });
      expect(await from('198.51.100.11')).toEqual([401, 429]);
      expect(await from('198.51.100.12')).toEqual([401, 429]);
      const another = { ...keyHeaders(other), 'x-forwarded-for': '198.51.100.11' };
      expect(await outcomeOf(call(another))).toEqual([200]);
      expect(await outcomeOf(call(keyHeaders(made)))).toEqual([200]);
    });

    test('a key that has expired or is revoked is no guess', async () => {
      const made = await keys.make(alice.address);
      await keys.keys.revoke({ wallet: alice.address }, made.key.id);
      expect(await guess(12, keyHeaders(made))).toEqual(all(12, 401));
    });
  });

  test('while the counters are away nobody is locked out or limited', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const away = () => Promise.reject(new Error('counters are away'));
    const made = await keys.make(alice.address, { perSecond: 1 });
    const base = await serveGates(keys.another({ counters: { increment: away, put: away, get: away } }));
    for (let n = 0; n < 3; n += 1) expect(await outcomeOf(call(keyHeaders(made), '/call', base))).toEqual([200]);
    for (let n = 0; n < 12; n += 1) {
      const wrong = { ...keyHeaders(made), 'x-service-secret': 'x' };
      expect(await outcomeOf(call(wrong, '/call', base))).toEqual([401, 'invalid_service_key']);
    }
    expect(warned).toHaveBeenCalledTimes(1);
    warned.mockRestore();
  });

  describe('in anyOf with a payment', () => {
    test('a key comes in, and who has none is asked to pay', async () => {
      const headers = keyHeaders(await keys.make(alice.address));
      expect(await outcomeOf(call(headers, '/either'))).toEqual([200]);
      expect(await outcomeOf(call({}, '/either'))).toEqual([402, 'payment_required']);
      expect(await outcomeOf(call({ 'x-paid': 'yes' }, '/either'))).toEqual([200]);
    });

    test('a refused key is told so and not asked to pay; a payment beside it counts', async () => {
      const made = await keys.make(alice.address, { expiresAt: NOON + 1 });
      keys.fixture.advance(1);
      expect(await outcomeOf(call(keyHeaders(made), '/either'))).toEqual([401, 'service_key_expired']);
      expect(await outcomeOf(call({ ...keyHeaders(made), 'x-paid': 'yes' }, '/either'))).toEqual([200]);
    });
  });

  test('a preflight needs no key; any other OPTIONS request does', async () => {
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
    expect((await fetch(`${url}/call`, { method: 'OPTIONS', headers })).status).toBe(204);
    expect((await fetch(`${url}/call`, { method: 'OPTIONS' })).status).toBe(401);
  });

  test('secrets are in no log line and no answer', async () => {
    const made = await keys.make(alice.address);
    const other = await keys.make(alice.address);
    const texts: string[] = [];
    for (const headers of [keyHeaders(made), { ...keyHeaders(made), 'x-service-secret': other.secret }]) {
      for (const path of ['/call', '/figures', '/nothing']) {
        const answer = await call(headers, path);
        texts.push(await answer.text(), JSON.stringify([...answer.headers]));
      }
    }
    await keys.database.close();
    texts.push(await (await call(keyHeaders(other))).text());
    await until(() => lines.length >= 7);
    const all = [...texts, ...lines].join('\n');
    for (const { secret } of [made, other]) expect(all).not.toContain(secret.slice('toll_sk_test_'.length));
  });
});

test.each<[string, object, string]>([
  ['no gateway', {}, 'option "gateway" is missing'],
  ['something else as a gateway', { gateway: {} }, 'option "gateway" must be a gateway'],
  [
    'an unknown scope',
    { gateway: { keys: { authenticate() {} } }, scopes: ['calls'] },
    'option "scopes.0" must be one of call',
  ],
  ['an unknown option', { gateway: { keys: { authenticate() {} } }, scope: [] }, 'did you mean "scopes"?'],
])('with %s the gate is not made', (_what, options, message) => {
  expect(() => serviceKeyAuth(options as ServiceKeyAuthOptions)).toThrow(message);
});
