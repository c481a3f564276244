import { Webhook } from 'standardwebhooks';
import { createAddressGuard } from '../../../src/gateway/network-guard/address-guard.js';
import { verifyWebhook } from '../../../src/gateway/webhooks/verify-webhook.js';
import { createWebhooks } from '../../../src/gateway/webhooks/webhooks.js';
import { createRoutes } from '../../../src/http/framework/routes.js';
import { WEBHOOKS_OPERATIONS } from '../../../src/http/webhooks/operations.js';
import { call, openApiFixture } from '../../helpers/fixtures/api-fixture.js';
import { DAILY_EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { openWebhookFixture, type WebhookFixture } from '../../helpers/fixtures/webhook-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { type Receiver, startReceiver, status } from '../../helpers/http/webhook-receiver.js';
import { ALICE, anEvent } from '../../helpers/http/webhook-samples.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const PROJECTS = ['prj_1', 'prj_2'];

describe.each(DAILY_EXPRESSES)('webhooks over HTTP, %s', (name, express) => {
  let api: ReturnType<typeof openApiFixture>;
  let fixture: WebhookFixture;
  let receiver: Receiver;
  let url: string;
  let alice: ProofHeaders;
  let bob: ProofHeaders;

  beforeAll(async () => {
    api = openApiFixture();
    fixture = await openWebhookFixture();
    receiver = await startReceiver();
    const { webhooks: store, deliveries, worker, now } = fixture;
    const webhooks = createWebhooks({
      store,
      deliveries,
      addressGuard: createAddressGuard({ allow: ['127.0.0.0/8'] }),
      ownsProject: async (wallet, id) => wallet === ALICE && PROJECTS.includes(id),
      wake: worker.wake,
      now,
    });
    const { router } = createRoutes(WEBHOOKS_OPERATIONS, { webhooks, now }, api.callerFor);
    url = `${await api.serve(router, express)}/api/v1/webhooks`;
    [alice, bob] = [await api.tokenOf(walletKey('alice')), await api.tokenOf(walletKey('bob'))];
  });
  afterEach(async () => {
    receiver.respond(status(204));
    for (const caller of [alice, bob]) {
      const { body } = await call('GET', `${url}?limit=100`, caller);
      for (const { id } of body.data as { id: string }[]) await call('DELETE', `${url}/${id}`, caller);
    }
  });
  afterAll(async () => {
    await api.close();
    await fixture.close();
    await receiver.close();
  });

  const create = async (changes: object = {}, caller = alice) => {
    const answer = await call('POST', url, caller, { url: receiver.url, events: ['*'], ...changes });
    return { ...answer, id: String(answer.body.id) };
  };
  const lastMessage = () => receiver.received.at(-1)!;

  test('one is made, shown, changed, listed and deleted; its secret is shown once', async () => {
    const made = await create({
      events: ['payment.settled', 'payment.settled'],
      project_id: 'prj_1',
      description: 'the shop',
    });
    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toBe(`/api/v1/webhooks/${made.id}`);
    expect(made.headers.get('cache-control')).toBe('no-store');
    const { secret, ...shown } = made.body;
    expect(secret).toMatch(/^whsec_[A-Za-z\d+/]{43}=$/);
    expect(shown).toEqual({
      id: expect.stringMatching(/^whk_/),
      url: receiver.url,
      events: ['payment.settled'],
      project_id: 'prj_1',
      description: 'the shop',
      status: 'enabled',
      disabled_reason: null,
      failing_since: null,
      previous_secret_expires_at: null,
      created_at: new Date(fixture.now()).toISOString(),
      updated_at: new Date(fixture.now()).toISOString(),
    });
    expect((await call('GET', `${url}/${made.id}`, alice)).body).toEqual(shown);
    const change = { events: ['call.failed', '*'], description: null };
    expect((await call('PATCH', `${url}/${made.id}`, alice, change)).body).toEqual({
      ...shown,
      events: ['*'],
      description: null,
    });
    expect((await call('GET', url, alice)).body).toMatchObject({
      object: 'list',
      data: [{ id: made.id }],
      has_more: false,
    });
    expect((await call('DELETE', `${url}/${made.id}`, alice)).status).toBe(204);
    expect(await call('GET', `${url}/${made.id}`, alice)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  test.each([
    [{ url: 'https://127.1.2.3.4.5/' }, '/url'],
    [{ url: 'http://10.1.2.3/hook' }, '/url'],
    [{ url: 'https://169.254.169.254/' }, '/url'],
    [{ url: 'https://[::1]/' }, '/url'],
    [{ url: 'ftp://example.com/' }, '/url'],
    [{ url: 'https://user:pass@8.8.8.8/' }, '/url'],
    [{ events: [] }, '/events'],
    [{ events: ['payment.stolen'] }, '/events/0'],
    // Nothing sends it.
    [{ events: ['access.granted'] }, '/events/0'],
    [{ project_id: 'prj_of_bob' }, '/project_id'],
    [{ description: 'x'.repeat(201) }, '/description'],
    [{ secret: 'mine' }, '/secret'],
  ])('%j is refused with the field at fault', async (changes, pointer) => {
    const { status: code, body } = await create(changes);
    expect([code, body.code]).toEqual([422, 'validation_failed']);
    expect((body.errors as { pointer: string }[]).map((it) => it.pointer)).toEqual([pointer]);
  });

  test('a mistyped type of events is refused with the one that was meant', async () => {
    const { body } = await create({ events: ['payment.setled'] });
    expect(body.detail).toContain('/events/0: must be a type of events, or *; did you mean "payment.settled"?');
  });

  test('a fault of the whole query is told of the query, and of no body', async () => {
    const { status: code, body } = await call('GET', `${url}?__proto__=1`, alice);
    // Express 4 reads no such field.
    const refused = [422, expect.stringContaining('the query: ')];
    expect([code, body.detail]).toEqual(name === 'Express 4' ? [200, undefined] : refused);
  });

  test('an address that may not be called cannot be changed to either', async () => {
    const { id } = await create();
    expect(await call('PATCH', `${url}/${id}`, alice, { url: 'https://192.168.0.1/' })).toMatchObject({ status: 422 });
    expect((await call('GET', `${url}/${id}`, alice)).body.url).toBe(receiver.url);
  });

  test('those of others are not there', async () => {
    const { id } = await create();
    await fixture.log.append([anEvent({ projectId: 'prj_1' })]);
    await fixture.worker.runDue();
    const [delivery] = (await call('GET', `${url}/${id}/deliveries`, alice)).body.data as { id: string }[];
    const paths: [string, string, object?][] = [
      ['GET', `/${id}`],
      ['PATCH', `/${id}`, { enabled: false }],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/rotate`],
      ['POST', `/${id}/test`],
      ['POST', `/${id}/recover`, { since: '2020-01-01T00:00:00Z' }],
      ['GET', `/${id}/deliveries`],
      ['GET', `/${id}/deliveries/${delivery!.id}`],
      ['POST', `/${id}/deliveries/${delivery!.id}/retry`],
    ];
    const ofProject = api.keyWith(['webhooks:read', 'webhooks:write', 'secrets:read'], 'prj_1');
    const other = await create({}, bob);
    for (const [method, path, body] of paths) {
      expect(await call(method, url + path, bob, body)).toMatchObject({ status: 404, body: { code: 'not_found' } });
      expect(await call(method, url + path, ofProject, body)).toMatchObject({ status: 404 });
    }
    expect(await call('GET', `${url}/${other.id}/deliveries/${delivery!.id}`, bob)).toMatchObject({ status: 404 });
    expect((await call('GET', url, ofProject)).body.data).toEqual([]);
    expect((await call('GET', `${url}/${id}`, alice)).body.status).toBe('enabled');
  });

  test('a key that is restricted to a project makes webhooks of that project', async () => {
    const key = api.keyWith(['webhooks:read', 'webhooks:write'], 'prj_1');
    expect((await create({}, key)).body).toMatchObject({ project_id: 'prj_1' });
    expect((await create({ project_id: 'prj_2' }, key)).status).toBe(422);
    expect((await create({}, api.keyWith(['webhooks:read']))).body).toMatchObject({ code: 'insufficient_scope' });
    expect((await create({}, {})).body).toMatchObject({ code: 'unauthenticated' });
  });

  test('a key that writes webhooks sees the secret of what it makes, and no other', async () => {
    const { id, body: first } = await create();
    const writer = api.keyWith(['webhooks:read', 'webhooks:write']);
    expect((await create({}, writer)).body).toMatchObject({ secret: expect.stringMatching(/^whsec_/) });
    const refused = { status: 403, body: { code: 'insufficient_scope' } };
    expect(await call('POST', `${url}/${id}/rotate`, writer)).toMatchObject(refused);
    const reader = api.keyWith(['webhooks:write', 'secrets:read']);
    const { body } = await call('POST', `${url}/${id}/rotate`, reader);
    expect(body.secret).toMatch(/^whsec_/);
    expect(body.secret).not.toBe(first.secret);
  });

  test('there are twenty at most, and pages of them', async () => {
    for (let at = 0; at < 20; at += 1) expect((await create()).status).toBe(201);
    expect(await create()).toMatchObject({ status: 409, body: { code: 'quota_reached', param: 'webhooks' } });
    const seen: string[] = [];
    for (let cursor: unknown = ''; cursor !== null; ) {
      const page = await call('GET', `${url}?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`, alice);
      seen.push(...(page.body.data as { id: string }[]).map(({ id }) => id));
      cursor = page.body.next_cursor;
    }
    expect(new Set(seen).size).toBe(20);
    expect(await call('GET', `${url}?cursor=nonsense`, alice)).toMatchObject({
      status: 422,
      body: { param: 'cursor' },
    });
  });

  test('a test event is sent once, signed, and nobody else sees it', async () => {
    const made = await create({ events: ['key.created'], project_id: 'prj_2' });
    const sent = await call('POST', `${url}/${made.id}/test`, alice);
    expect(sent).toMatchObject({ status: 202, body: { event_type: 'key.created', status: 'pending', attempts: 0 } });
    await fixture.worker.runDue();
    const { headers, body } = lastMessage();
    const now = () => fixture.now();
    expect(verifyWebhook({ headers, body }, String(made.body.secret), { now })).toMatchObject({
      ok: true,
      event: { id: sent.body.event_id, type: 'key.created', project_id: 'prj_2', data: { test: true } },
    });
    expect(await fixture.log.find(ALICE, String(sent.body.event_id))).toBeUndefined();
    expect((await call('POST', `${url}/${made.id}/test`, alice, { type: 'call.failed' })).body.event_type).toBe(
      'call.failed',
    );

    receiver.respond(status(500));
    await fixture.worker.runDue();
    expect((await call('GET', `${url}/${made.id}/deliveries?status=failed`, alice)).body.data).toMatchObject([
      { attempts: 1 },
    ]);
  });

  test('a failed delivery shows its log, and is made once more when it is asked for', async () => {
    receiver.respond((res) => void res.writeHead(500).end('no'));
    const { id } = await create();
    await fixture.tell(anEvent());
    await fixture.worker.runDue();
    const [{ id: delivery }] = (await call('GET', `${url}/${id}/deliveries`, alice)).body.data as [{ id: string }];
    const path = `${url}/${id}/deliveries/${delivery}`;
    expect((await call('GET', path, alice)).body).toEqual({
      id: delivery,
      event_id: expect.stringMatching(/^evt_/),
      event_type: 'payment.settled',
      status: 'pending',
      attempts: 1,
      next_attempt_at: new Date(fixture.now() + 5_000).toISOString(),
      created_at: new Date(fixture.now()).toISOString(),
      finished_at: null,
      log: [
        { number: 1, at: expect.any(String), duration_ms: expect.any(Number), status: 500, error: null, answer: 'no' },
      ],
    });
    receiver.respond(status(200));
    expect(await call('POST', `${path}/retry`, alice)).toMatchObject({ status: 202, body: { status: 'pending' } });
    await fixture.worker.runDue();
    expect((await call('GET', path, alice)).body).toMatchObject({
      status: 'delivered',
      attempts: 2,
      next_attempt_at: null,
    });
  });

  test('what happened while it was disabled is recovered', async () => {
    const { id } = await create();
    expect((await call('PATCH', `${url}/${id}`, alice, { enabled: false })).body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'owner',
    });
    await fixture.tell(anEvent());
    await fixture.worker.runDue();
    const before = receiver.received.length;
    const since = { since: new Date(fixture.now()).toISOString() };
    for (const [path, body] of [['test'], ['recover', since]] as const) {
      expect(await call('POST', `${url}/${id}/${path}`, alice, body)).toMatchObject({
        status: 409,
        body: { code: 'webhook_disabled' },
      });
    }
    expect((await call('PATCH', `${url}/${id}`, alice, { enabled: true })).body).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
    });
    expect(await call('POST', `${url}/${id}/recover`, alice, since)).toMatchObject({
      status: 202,
      body: { recovered: 1 },
    });
    await fixture.worker.runDue();
    expect(receiver.received.length).toBe(before + 1);
  });

  test('after a rotation both secrets are good for a day', async () => {
    const { id, body: made } = await create();
    const { body: rotated } = await call('POST', `${url}/${id}/rotate`, alice);
    expect(rotated).toMatchObject({
      secret: expect.stringMatching(/^whsec_/),
      previous_secret_expires_at: new Date(fixture.now() + 86_400_000).toISOString(),
    });
    const now = () => fixture.now();
    const check = (secret: unknown) => verifyWebhook(lastMessage(), String(secret), { now }).ok;
    await fixture.tell(anEvent());
    await fixture.worker.runDue();
    expect([check(made.secret), check(rotated.secret)]).toEqual([true, true]);
    await fixture.advance(86_400_000);
    await fixture.tell(anEvent());
    await fixture.worker.runDue();
    expect([check(made.secret), check(rotated.secret)]).toEqual([false, true]);
    expect(new Webhook(String(rotated.secret))).toBeDefined();
  });

  test('a rotation can end the secret before at once', async () => {
    const { id, body: made } = await create();
    const { body: rotated } = await call('POST', `${url}/${id}/rotate`, alice, { expire_old_in: 0 });
    expect(rotated).toMatchObject({ previous_secret_expires_at: null });
    await fixture.tell(anEvent());
    await fixture.worker.runDue();
    const check = (secret: unknown) => verifyWebhook(lastMessage(), String(secret), { now: () => fixture.now() }).ok;
    expect([check(made.secret), check(rotated.secret)]).toEqual([false, true]);
  });

  test('other methods are refused with those that there are', async () => {
    const answer = await call('PUT', url, alice, {});
    expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
  });
});
