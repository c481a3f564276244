import { Keypair } from '@solana/web3.js';
import type { ClientResponse } from '../../helpers/fixtures/gateway-client.js';
import { type GatewayFixture, openGatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { DAILY_DATABASES, SHARED_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

/** What a wallet makes, where, and how much of it. */
const KINDS = [
  { what: 'projects', path: '/api/v1/projects', most: 20, tries: 100 },
  { what: 'keys', path: '/api/v1/keys/generate', most: 50, tries: 70 },
  { what: 'webhooks', path: '/api/v1/webhooks', most: 20, tries: 60 },
] as const;

describe.each(DAILY_DATABASES)('one fresh wallet, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase], { quotas: {} });
  let fixture: GatewayFixture;
  let made = 0;

  beforeAll(async () => {
    fixture = opened();
  });

  async function freshWallet(): Promise<ProofHeaders> {
    const wallet: Keypair = await fixture.sandbox.createWallet({});
    return fixture.client.signIn(wallet);
  }

  function bodyOf(what: string): object {
    made += 1;
    if (what === 'keys') return { name: 'a key' };
    if (what === 'webhooks') return { url: fixture.upstream.url, events: ['*'] };
    const pricing = { amount: '0.01', token: 'USDC' };
    return { slug: `fresh-${made}`, name: 'x', upstream: { url: fixture.upstream.origin }, pricing };
  }

  const make = (what: string, path: string, by: ProofHeaders) => fixture.client.ask('POST', path, bodyOf(what), by);
  const statusOf = ({ status }: ClientResponse) => status;
  const remove = (path: string, by: ProofHeaders) => fixture.client.ask('DELETE', path, undefined, by);

  test.each(KINDS)('has $most $what, however many it asks for at once', async ({ what, path, most, tries }) => {
    const [one, other] = [await freshWallet(), await freshWallet()];
    const answers = await Promise.all(Array.from({ length: tries }, () => make(what, path, one)));
    const kept = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    expect([kept.length, refused.length]).toEqual([most, tries - most]);
    for (const { status, body } of refused) {
      expect([status, body['code'], body['param']]).toEqual([409, 'quota_reached', what]);
      expect(body['detail']).toMatch(new RegExp(`may have ${most} .* here: (delete|revoke) one, or ask the operator`));
    }
    const list = path.replace('/generate', '');
    const listed = await fixture.client.ask('GET', `${list}?limit=100`, undefined, one);
    expect(listed.body['data']).toHaveLength(most);

    expect(statusOf(await make(what, path, other))).toBe(201);
    expect(statusOf(await remove(`${list}/${kept[0]?.body['id']}`, one))).toBe(204);
    const again = [await make(what, path, one), await make(what, path, one)];
    expect(again.map(statusOf)).toEqual([201, 409]);
  });
});

describe.each(SHARED_DATABASES)('the changes of a wallet, on %s', (name, openDatabase) => {
  const MOST = 4;
  const DAY_MS = 86_400_000;
  const operator = Keypair.generate();
  const operators = [operator.publicKey.toBase58()];
  const opened = useGatewayFixture([name, openDatabase], { quotas: { dailyChanges: MOST }, operators });
  const outcome = ({ status, body }: ClientResponse) => [status, body['code']];

  test('end for the day where it has made as many as it may, by itself and by its keys, on any instance', async () => {
    const { client, sandbox, startAnother, advance } = opened();
    const other = await startAnother();
    const wallet = await sandbox.createWallet({});
    const as = await client.signIn(wallet);
    const hook = { url: opened().upstream.url, events: ['*'] };
    const named = { ...as, 'idempotency-key': 'a-webhook-that-is-made-once' };
    const { body: made } = await client.ask('POST', '/api/v1/webhooks', hook, named);
    const path = `/api/v1/webhooks/${made['id']}`;
    const change = (by: ProofHeaders, at = client) => at.ask('PATCH', path, { events: ['*'] }, by);
    expect(outcome(await client.ask('PATCH', path, { events: ['none'] }, as))).toEqual([422, 'validation_failed']);
    const { headers: byKey } = await client.key(as, { scopes: ['webhooks:write'] });
    expect([(await change(as, other)).status, (await change(byKey)).status]).toEqual([200, 200]);

    for (const refused of [await change(as), await change(byKey, other), await client.ask('DELETE', path, {}, as)]) {
      expect(outcome(refused)).toEqual([429, 'rate_limited']);
      expect(refused.body['detail']).toMatch(`may make ${MOST} changes a day here, its keys included, and nothing was`);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(DAY_MS / 2_000);
    }
    expect((await client.ask('GET', path, undefined, as)).status).toBe(200);
    expect((await client.ask('POST', '/api/v1/webhooks', hook, named)).body['id']).toBe(made['id']);
    expect((await client.key(await client.signIn(opened().partner))).id).toMatch(/^key_/);

    const more = { quotas: { daily_changes: MOST + 1 } };
    const ofWallet = `/api/v1/operator/owners/${wallet.publicKey.toBase58()}`;
    const asOperator = await client.signIn(operator);
    expect((await client.ask('PATCH', ofWallet, more, asOperator)).body).toMatchObject(more);
    expect([(await change(as)).status, (await change(as)).status]).toEqual([200, 429]);
    advance(DAY_MS);
    expect((await change(await client.signIn(wallet))).status).toBe(200);
  });

  test('end for an address that has made as many as five wallets may, by however many', async () => {
    const { client, sandbox, advance } = opened();
    advance(DAY_MS);
    const made = [];
    for (let n = 0; n < 6; n += 1) {
      const as = await client.signIn(await sandbox.createWallet({}));
      for (let at = 0; at < MOST; at += 1)
        made.push(await client.ask('POST', '/api/v1/keys/generate', { name: 'x' }, as));
    }
    expect(made.slice(0, 5 * MOST).map(({ status }) => status)).toEqual(Array(5 * MOST).fill(201));
    expect(made.slice(5 * MOST).map(outcome)).toEqual(Array(MOST).fill([429, 'rate_limited']));
    expect(made.at(-1)?.body['detail']).toMatch(
      `All wallets at one address, or in the network around it, may make ${5 * MOST}`,
    );
  });

  test('are bounded for nobody who is an operator', async () => {
    const { client } = opened();
    const as = await client.signIn(operator);
    const made = [];
    for (let at = 0; at < 2 * MOST; at += 1) made.push(await client.key(as));
    expect(made).toHaveLength(2 * MOST);
  });
});

describe.each(DAILY_DATABASES)('payments that are asked for and not made, on %s', (name, openDatabase) => {
  const MOST = 4;
  const DAY_MS = 86_400_000;
  const operator = Keypair.generate();
  const operators = [operator.publicKey.toBase58()];
  const opened = useGatewayFixture([name, openDatabase], { quotas: { unpaidRequests: MOST }, operators });
  const sold = () => ({ project: opened().project.slug });
  const ask = (by: ProofHeaders = {}, body: object = sold(), at = opened().client) =>
    at.ask('POST', '/create-payment', body, by);
  const many = async (count: number, by?: ProofHeaders) => {
    const made = [];
    for (let n = 0; n < count; n += 1) made.push((await ask(by)).status);
    return made;
  };
  const made = (count: number) => Array(count).fill(200);
  let ahead = 0;
  // Each test has a day of its own, and begins at its noon.
  beforeEach(() => {
    const step = 1.5 * DAY_MS - ((Date.now() + ahead) % DAY_MS);
    ahead += step;
    opened().advance(step);
  });

  test('end for the day where a wallet has as many as it may, by all its keys and on any instance; paid ones do not count', async () => {
    const { client, newCaller, pay, startAnother } = opened();
    // Limits are counted by one process where it is SQLite.
    const other = name === 'Postgres' ? await startAnother() : client;
    const caller = await newCaller();
    const second = await client.key(await client.signIn(caller.wallet));
    const { headers } = caller.key;
    expect((await ask(headers, { ...sold(), amount: '7' })).status).toBe(400);
    for (let n = 0; n < MOST; n += 1) await pay({ caller });
    // A paid one is taken back once its response has left.
    for (let n = 1; n < MOST; n += 1) await until(async () => (await ask(headers)).status === 200);
    await until(async () => (await ask(second.headers, sold(), other)).status === 200);

    for (const refused of [await ask(headers), await ask(second.headers), await ask(headers, sold(), other)]) {
      expect([refused.status, refused.body['code']]).toEqual([429, 'rate_limited']);
      expect(refused.body['detail']).toMatch(
        `One wallet may ask for ${MOST} payments a day here that nobody makes, and`,
      );
      const wait = Number(refused.headers.get('retry-after'));
      expect([wait > 0, wait <= DAY_MS / 1_000]).toEqual([true, true]);
    }
    expect((await ask((await newCaller()).key.headers)).status).toBe(200);

    const ofWallet = `/api/v1/operator/owners/${caller.wallet.publicKey.toBase58()}`;
    const more = { quotas: { unpaid_requests: MOST + 1 } };
    const asOperator = await client.signIn(operator);
    expect((await client.ask('PATCH', ofWallet, more, asOperator)).body).toMatchObject(more);
    expect(await many(2, headers)).toEqual([200, 429]);
    opened().advance(DAY_MS);
    expect(await many(1, headers)).toEqual([200]);
  });

  test('end for an address that shows no key, and for no operator', async () => {
    const { client } = opened();
    expect(await many(MOST + 1)).toEqual([...made(MOST), 429]);
    expect((await ask()).body['detail']).toMatch(`One address may ask for ${MOST} payments`);
    const { headers } = await client.key(await client.signIn(operator), { limits: { per_second: 100 } });
    expect(await many(MOST + 1, headers)).toEqual(made(MOST + 1));
  });

  test('leave an even share to who comes late, however many wallets ask for all that there is', async () => {
    const { newCaller, client } = opened();
    const flooding = [];
    for (let n = 0; n < 5; n += 1) flooding.push(await newCaller());
    for (const { key } of flooding) expect(await many(MOST, key.headers)).toEqual(made(MOST));
    const [late, known] = [await newCaller(), await newCaller()];
    expect(await many(4, late.key.headers)).toEqual([...made(3), 429]);
    expect((await ask(late.key.headers)).body['detail']).toMatch('while there are so many of all together');
    const ofWallet = `/api/v1/operator/owners/${known.wallet.publicKey.toBase58()}`;
    await client.ask('PATCH', ofWallet, { quotas: { unpaid_requests: MOST + 2 } }, await client.signIn(operator));
    expect(await many(MOST + 3, known.key.headers)).toEqual([...made(MOST + 2), 429]);
  });
});

test('whoever makes and deletes projects without end is told until when he can make no more', async () => {
  const fixture = await openGatewayFixture('memory:', {}, { quotas: { projects: 2 } });
  const { client, upstream, partner } = fixture;
  const pricing = { amount: '1', token: 'USDC' };
  const make = async (slug: string, by: ProofHeaders) =>
    client.ask('POST', '/api/v1/projects', { slug, name: 'x', upstream: { url: upstream.origin }, pricing }, by);
  const as = await client.signIn(partner);
  for (let at = 0; at < 10; at += 1) {
    const { status, body } = await make('again', as);
    expect(status).toBe(201);
    expect((await client.ask('DELETE', `/api/v1/projects/${body['id']}`, undefined, as)).status).toBe(204);
  }
  const { status, body } = await make('another', as);
  expect([status, body['code'], body['param']]).toEqual([409, 'quota_reached', 'projects']);
  const [, until = ''] =
    /delete 10 projects within 30 days .* from (\S+) on, or ask/.exec(String(body['detail'])) ?? [];
  expect((await make('honest', fixture.asOwner)).status).toBe(201);
  fixture.advance(Date.parse(until) - Date.now());
  expect((await make('another', await client.signIn(partner))).status).toBe(201);
  await fixture.close();
});

test('whoever makes and revokes keys without end is told until when he can make no more, and keeps no notes', async () => {
  const fixture = await openGatewayFixture('memory:', {}, { quotas: { keys: 2 } });
  const { client, partner } = fixture;
  const as = await client.signIn(partner);
  const make = async (by: ProofHeaders) =>
    client.ask('POST', '/api/v1/keys/generate', { name: 'again', metadata: { note: 'x'.repeat(500) } }, by);
  for (let at = 0; at < 10; at += 1) {
    const { status, body } = await make(as);
    expect(status).toBe(201);
    expect((await client.ask('DELETE', `/api/v1/keys/${body['id']}`, undefined, as)).status).toBe(204);
  }
  const { status, body } = await make(as);
  expect([status, body['code'], body['param']]).toEqual([409, 'quota_reached', 'keys']);
  const [, until = ''] =
    /10 service keys .* within 30 days .* from (\S+) on, or ask/.exec(String(body['detail'])) ?? [];
  const listed = await client.ask('GET', '/api/v1/keys', undefined, as);
  const kept = (listed.body['data'] as { name: string; metadata: object }[]).map(({ name, metadata }) => [
    name,
    metadata,
  ]);
  expect(kept).toEqual(Array.from({ length: 10 }, () => ['again', {}]));
  expect((await make(fixture.asOwner)).status).toBe(201);
  fixture.advance(Date.parse(until) - Date.now());
  expect((await make(await client.signIn(partner))).status).toBe(201);
  await fixture.close();
});

test('an operator says how much a wallet may own', async () => {
  const fixture = await openGatewayFixture('memory:', {}, { quotas: { keys: 1, webhooks: 0, projectBytes: 2_000 } });
  const as = await fixture.client.signIn(fixture.partner);
  await fixture.client.key(as);
  const ask = (path: string, body: object) => fixture.client.ask('POST', `/api/v1/${path}`, body, as);
  const project = {
    slug: 'long',
    name: 'Long',
    description: 'x'.repeat(1_000),
    upstream: { url: `${fixture.upstream.origin}/${'x'.repeat(1_000)}` },
    pricing: { amount: '1', token: 'USDC' },
  };
  const answers = [
    await ask('keys/generate', { name: 'another' }),
    await ask('webhooks', { url: fixture.upstream.url, events: ['*'] }),
    await ask('projects', project),
  ];
  expect(answers.map(({ status, body }) => [status, body['param']])).toEqual([
    [409, 'keys'],
    [409, 'webhooks'],
    [409, 'project_bytes'],
  ]);
  expect((await ask('projects', { ...project, description: 'short' })).status).toBe(201);
  await fixture.close();
});
