import { type Caller, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

describe.each(DAILY_DATABASES)('what a buyer sees on %s', (...database) => {
  const fixture = useGatewayFixture(database, { keepsPasses: true });
  let buyer: Caller;
  let stranger: Caller;
  let asBuyer: ProofHeaders;
  let asStranger: ProofHeaders;
  let booked = 0;

  beforeAll(async () => {
    const { client, newCaller } = fixture();
    [buyer, stranger] = [await newCaller(), await newCaller()];
    [asBuyer, asStranger] = [await client.signIn(buyer.wallet), await client.signIn(stranger.wallet)];
    for (const path of ['/weather/2026/berlin?secret=1', '/air']) {
      const { header } = await fixture().pay({ caller: buyer });
      const { status } = await client.call(`${fixture().project.slug}${path}`, {
        headers: { ...buyer.key.headers, ...header },
      });
      expect(status).toBe(200);
      // It is written when the response has left.
      booked += 1;
      await until(async () => rows((await ask('/api/v1/calls', asBuyer)).body).length === booked);
    }
  });

  const ask = (path: string, headers: ProofHeaders) => fixture().client.ask('GET', path, undefined, headers);
  const rows = (body: Readonly<Record<string, unknown>>) => body['data'] as readonly Record<string, unknown>[];

  test('he finds his own calls, newest first, page by page, with the route and without its query', async () => {
    const { body } = await ask('/api/v1/calls?limit=1', asBuyer);
    expect(rows(body)).toMatchObject([
      { route: 'GET /air', project: fixture().project.slug, outcome: 'succeeded', token: 'USDC', amount: '0.012347' },
    ]);
    const next = await ask(`/api/v1/calls?limit=1&cursor=${body['next_cursor']}`, asBuyer);
    expect(rows(next.body).map(({ route }) => route)).toEqual(['GET /weather/*/berlin']);
    expect(next.body['has_more']).toBe(false);
    expect(rows(next.body)[0]?.['upstream_ms']).toEqual(expect.any(Number));
  });

  test('filters leave out what they do not name, and a key sees itself only', async () => {
    const count = async (query: string, headers = asBuyer) =>
      rows((await ask(`/api/v1/calls?${query}`, headers)).body).length;
    expect(await count(`key=${buyer.key.id}&status=succeeded&project=${fixture().project.id}`)).toBe(2);
    expect(await count('status=failed')).toBe(0);
    for (const [status, found] of Object.entries({ 200: 2, '2xx': 2, 201: 0, '4xx': 0 })) {
      expect([status, await count(`status=${status}`)]).toEqual([status, found]);
    }
    expect((await ask('/api/v1/calls?status=6xx', asBuyer)).status).toBe(422);
    expect(await count(`route=${encodeURIComponent('GET /air')}`)).toBe(1);
    expect(await count('to=2020-01-01T00:00:00Z')).toBe(0);
    expect(await count('from=2020-01-01T00:00:00Z')).toBe(2);
    expect(await count('', buyer.key.headers)).toBe(2);
    expect((await ask(`/api/v1/calls?key=${stranger.key.id}`, buyer.key.headers)).status).toBe(404);
  });

  test('a stranger sees none of them, whatever he asks for', async () => {
    for (const headers of [asStranger, stranger.key.headers]) {
      expect(rows((await ask('/api/v1/calls', headers)).body)).toEqual([]);
    }
    const named = await ask(`/api/v1/calls?key=${buyer.key.id}&project=${fixture().project.id}`, asStranger);
    expect(rows(named.body)).toEqual([]);
    expect((await ask(`/api/v1/projects/${fixture().project.id}/calls`, asStranger)).status).toBe(404);
  });

  test('the owner of the project finds them by key, route and payer, with what the gateway has added', async () => {
    const payer = buyer.wallet.publicKey.toBase58();
    const path = `/api/v1/projects/${fixture().project.id}/calls`;
    const { body } = await ask(`${path}?key=${buyer.key.id}&payer=${payer}`, fixture().asOwner);
    expect(rows(body)).toHaveLength(2);
    expect(rows(body)[0]).toMatchObject({ payer, gateway_ms: expect.any(Number), upstream_ms: expect.any(Number) });
    expect(rows((await ask(`${path}?key=${stranger.key.id}`, fixture().asOwner)).body)).toEqual([]);
  });

  test('calls come as a table, and the link to the next page of it', async () => {
    const { text, headers } = await ask('/api/v1/calls?format=csv&limit=1', asBuyer);
    const [head, row] = text.split('\r\n');
    expect(head).toMatch(/^id,at,project_id,method,route,/);
    expect(row).toContain('GET /air');
    expect(headers.get('link')).toMatch(/^<\?.*cursor=.*>; rel="next"$/);
  });

  test('the receipt of a payment is for payer, key and seller, and for nobody else', async () => {
    const [call] = rows((await ask('/api/v1/calls', asBuyer)).body);
    const path = String(call?.['receipt_url']).slice(fixture().client.url.length);
    const readers = [asBuyer, buyer.key.headers, fixture().asOwner];
    for (const headers of readers) {
      const { status, body } = await ask(path, headers);
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: 'settled', payer: buyer.wallet.publicKey.toBase58(), amount: '0.012347' });
      expect(body['calls']).toMatchObject([{ route: 'GET /air', status: 200 }]);
    }
    for (const headers of [asStranger, stranger.key.headers]) expect((await ask(path, headers)).status).toBe(404);
    const page = await ask(path, { ...asBuyer, accept: 'text/html', 'sec-fetch-dest': 'document' });
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('GET /air')]);
  });

  test('he hears of his own calls, and of nobody else’s', async () => {
    const told = rows((await ask('/api/v1/events?types=call.succeeded', asBuyer)).body);
    expect(told.map(({ data }) => Reflect.get(Object(data), 'key_id'))).toEqual([buyer.key.id, buyer.key.id]);
    expect(rows((await ask('/api/v1/events?types=call.succeeded', asStranger)).body)).toEqual([]);
  });
});

describe.each(DAILY_DATABASES)('a key that is changed on %s', (...database) => {
  const fixture = useGatewayFixture(database);
  let buyer: Caller;
  let owner: ProofHeaders;
  beforeEach(async () => {
    buyer = await fixture().newCaller({ metadata: { team: 'Zoë' } });
    owner = await fixture().client.signIn(buyer.wallet);
  });
  const patch = (body: object, headers: ProofHeaders = owner) =>
    fixture().client.ask('PATCH', `/api/v1/keys/${buyer.key.id}`, body, headers);
  const call = (headers: ProofHeaders = {}) =>
    fixture().client.call(`${fixture().project.slug}/air`, { headers: { ...buyer.key.headers, ...headers } });

  test('keeps what its owner does not name, and loses what is null', async () => {
    const made = await patch({ name: 'renamed', spending: { limit: '5', token: 'USDC', window: 'day' } });
    expect(made.body).toMatchObject({ name: 'renamed', metadata: { team: 'Zoë' }, spending: { limit: '5' } });
    const raised = await patch({ spending: { limit: '6' }, metadata: { team: null, unit: 'a' } });
    expect(raised.body).toMatchObject({ spending: { limit: '6', window: 'day' }, metadata: { unit: 'a' } });
    expect((await patch({ spending: null })).body).toMatchObject({ spending: null });
    const told = await fixture().client.ask('GET', '/api/v1/events?types=key.updated', undefined, owner);
    expect(told.body['data']).toHaveLength(3);
  });

  test('is changed only from the version that is meant', async () => {
    const before = await fixture().client.ask('GET', `/api/v1/keys/${buyer.key.id}`, undefined, owner);
    const tag = String(before.headers.get('etag'));
    const first = await patch({ name: 'one' }, { ...owner, 'if-match': tag });
    const second = await patch({ name: 'two' }, { ...owner, 'if-match': tag });
    expect([first.status, second.status, second.body['code']]).toEqual([200, 412, 'precondition_failed']);
  });

  test('is refused by projects that it is not for, before any price', async () => {
    const other = await fixture().newProject();
    expect((await patch({ allowed_projects: [other.id] })).status).toBe(200);
    const refused = await call();
    expect([refused.status, refused.body['code']]).toEqual([403, 'key_project_not_allowed']);
    const asked = { project: fixture().project.slug };
    const created = await fixture().client.ask('POST', '/create-payment', asked, buyer.key.headers);
    expect([created.status, created.body['code']]).toEqual([403, 'key_project_not_allowed']);
    expect((await patch({ allowed_projects: [] })).status).toBe(200);
    expect((await call()).status).toBe(402);
  });

  test('of one project has no payment prepared for another', async () => {
    const { asOwner, client, newProject, project } = fixture();
    const limited = await client.key(asOwner, { project_id: (await newProject()).id });
    const created = await client.ask('POST', '/create-payment', { project: project.slug }, limited.headers);
    expect([created.status, created.body['code']]).toEqual([403, 'key_project_not_allowed']);
  });

  test('is changed neither by itself nor by a stranger', async () => {
    const stranger = await fixture().newCaller();
    const asStranger = await fixture().client.signIn(stranger.wallet);
    expect((await patch({ name: 'mine' }, asStranger)).status).toBe(404);
    expect((await patch({ name: 'mine' }, buyer.key.headers)).status).toBe(403);
    const faults = await Promise.all(
      [
        { mode: 'live' },
        { scopes: [] },
        { allowed_projects: ['prj_none'] },
        { expires_at: '2001-01-01T00:00:00Z' },
      ].map((body) => patch(body)),
    );
    expect(faults.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
  });

  test('is named to the upstream, with its notes in ASCII', async () => {
    const { header } = await fixture().pay({ caller: buyer });
    expect((await call({ ...header, 'x-tollhouse-key': 'forged' })).status).toBe(200);
    const { headers } = fixture().upstream.received.at(-1)!;
    expect(headers['x-tollhouse-key']).toBe(buyer.key.id);
    expect(JSON.parse(String(headers['x-tollhouse-key-metadata']))).toEqual({ team: 'Zoë' });
  });
});
