import { createServer } from 'node:net';
import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { type Respond, startReceiver, status } from '../../helpers/http/webhook-receiver.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

const INTERVAL_MS = 20_000;
/** More than were once looked at together. */
const SLOW = 25;
const SECRETS_KEY = 'a secret for upstreams that is long enough';
const answers: Respond = (res) => void res.end('paid for');
const fails = status(503);

describe.each(DAILY_DATABASES)('an upstream that is looked at, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase], { secretsKey: SECRETS_KEY });
  let fixture: GatewayFixture;
  let project: MadeProject;

  beforeAll(() => {
    fixture = opened();
  });
  beforeEach(async () => {
    fixture.upstream.respond(answers);
    project = await newProject();
    await until(async () => (await upstreamOf())['status'] === 'up');
  });

  const newProject = (more: object = {}) =>
    fixture.newProject({
      upstream: {
        url: `${fixture.upstream.origin}/base`,
        headers: { authorization: 'the owner' },
        query: { key: 'k' },
        health: { path: '/healthz', interval: INTERVAL_MS / 1000 },
        ...more,
      },
    });
  const ask = (method: string, rest = '', body?: unknown) =>
    fixture.client.ask(method, `/api/v1/projects/${project.id}${rest}`, body, fixture.asOwner);
  const upstreamOf = async () => (await ask('GET')).body['upstream'] as Readonly<Record<string, unknown>>;
  const eventsOf = async (id = project.id) => {
    const asked = `/api/v1/events?project_id=${id}&types=project.upstream_down,project.upstream_up`;
    const { body } = await fixture.client.ask('GET', asked, undefined, fixture.asOwner);
    return (body['data'] as readonly { readonly type: string; readonly data: object }[]).toReversed();
  };
  const call = (headers: object = {}) =>
    fixture.client.call(project.slug, { headers: { ...fixture.key.headers, ...headers } });

  /** Lets so many intervals pass, and a look come after each. */
  async function looks(times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      const before = await checkedAt();
      fixture.advance(INTERVAL_MS);
      await until(async () => {
        await fixture.gateway.upstreamHealth.runDue();
        return (await checkedAt()) !== before;
      });
    }
  }
  const checkedAt = async () => (await fixture.storage.gateway.projects.find(project.id))?.upstreamCheckedAt;

  test('is asked with GET, what the owner adds, and the signature of the gateway', () => {
    const look = fixture.upstream.received.findLast(({ path }) => path.startsWith('/base/healthz'));
    expect(look).toMatchObject({ method: 'GET', path: '/base/healthz?key=k', headers: { authorization: 'the owner' } });
    expect(look?.headers['x-tollhouse-signature']).toMatch(/^v1,/);
  });

  test('is looked at while many of another owner hang', async () => {
    let [hanging, ended] = [0, 0];
    const hang = await startReceiver((res) => {
      hanging += 1;
      res.on('close', () => {
        ended += 1;
      });
    });
    const asOther = await fixture.client.signIn(fixture.partner);
    const upstream = { url: hang.origin, health: { path: '/', interval: 3_600 } };
    const slow: MadeProject[] = [];
    for (let n = 0; n < SLOW; n += 1) {
      slow.push(await fixture.client.project(asOther, { slug: `${project.slug}-slow-${n}`, upstream }));
    }
    const own = await newProject();
    await until(async () => (await fixture.storage.gateway.projects.find(own.id))?.upstreamCheckedAt !== undefined);
    expect(ended).toBe(0);
    await until(() => hanging === SLOW);
    for (const { id } of slow) await fixture.client.ask('DELETE', `/api/v1/projects/${id}`, undefined, asOther);
    await hang.close();
  });

  test('is sold no more after three failures in a row, and again after two looks that find it well', async () => {
    fixture.upstream.respond(fails);
    await looks(2);
    expect(await upstreamOf()).toMatchObject({ status: 'up', down_since: null });
    fixture.upstream.respond(answers);
    await looks(1);
    fixture.upstream.respond(fails);
    await looks(2);
    expect(await eventsOf()).toEqual([]);
    await looks(1);
    expect(await upstreamOf()).toMatchObject({ status: 'down', down_since: expect.stringMatching(/Z$/) });

    fixture.upstream.respond(answers);
    await looks(1);
    expect((await upstreamOf())['status']).toBe('down');
    await looks(1);
    expect(await upstreamOf()).toMatchObject({ status: 'up', down_since: null });
    expect((await call()).status).toBe(402);
    expect((await eventsOf()).map(({ type, data }) => [type, data])).toEqual([
      ['project.upstream_down', expect.objectContaining({ slug: project.slug, reason: 'status', status: 503 })],
      ['project.upstream_up', expect.objectContaining({ down_since: expect.stringMatching(/Z$/) })],
    ]);
  });

  test('costs nothing while it is down, and what was paid before stays good', async () => {
    const { header } = await fixture.pay({ project });
    fixture.upstream.respond(fails);
    await looks(3);
    const hits = fixture.hits();
    const [unpaid, paid] = [await call(), await call(header)];
    for (const refused of [unpaid, paid]) {
      expect([refused.status, refused.body['code']]).toEqual([503, 'project_upstream_down']);
      expect(refused.headers.get('retry-after')).toBe('20');
    }
    const asked = { project: project.slug };
    const prepared = await fixture.client.ask('POST', '/create-payment', asked, fixture.key.headers);
    expect([prepared.status, prepared.body['code']]).toEqual([503, 'project_upstream_down']);
    expect(fixture.hits()).toBe(hits);

    fixture.upstream.respond(answers);
    await looks(2);
    const served = await call(header);
    expect([served.status, served.text]).toEqual([200, 'paid for']);
  });

  test('is not resumed where its owner has paused it, and not looked at meanwhile', async () => {
    fixture.upstream.respond(fails);
    await looks(3);
    await ask('POST', '/pause');
    fixture.upstream.respond(answers);
    const before = await checkedAt();
    fixture.advance(3 * INTERVAL_MS);
    await fixture.gateway.upstreamHealth.runDue();
    expect(await checkedAt()).toBe(before);
    expect((await call()).body['code']).toBe('project_paused');

    await ask('POST', '/resume');
    expect((await call()).body['code']).toBe('project_upstream_down');
    await until(async () => (await upstreamOf())['status'] === 'down');
    await looks(1);
    await until(async () => {
      fixture.advance(INTERVAL_MS);
      await fixture.gateway.upstreamHealth.runDue();
      return (await upstreamOf())['status'] === 'up';
    });
    expect((await call()).status).toBe(402);
  });

  test('is sold at once when nobody is to look any more', async () => {
    fixture.upstream.respond(fails);
    await looks(3);
    await ask('PATCH', '', { upstream: { health: null } });
    expect(await upstreamOf()).toMatchObject({ health: null, status: null, down_since: null });
    expect((await call()).status).toBe(402);
  });

  test('is looked at by one of several at a time', async () => {
    const { upstreamHealth } = fixture.storage.gateway;
    fixture.advance(INTERVAL_MS);
    const time = fixture.gateway.now();
    const taken = await Promise.all(
      Array.from({ length: 8 }, () => upstreamHealth.take(time, time + INTERVAL_MS, 100)),
    );
    expect(taken.flat().filter(({ projectId }) => projectId === project.id).length).toBeLessThanOrEqual(1);
  });
});

describe('an upstream that is looked at', () => {
  const fixture = useGatewayFixture();

  async function failing(url: string, timeoutMs = 30_000): Promise<unknown> {
    const upstream = { url, timeout_ms: timeoutMs, health: { path: '/', interval: 10 } };
    const project = await fixture().newProject({ upstream });
    const { client, asOwner, gateway } = fixture();
    const find = async () => {
      const listed = await client.ask('GET', `/api/v1/events?project_id=${project.id}`, undefined, asOwner);
      const events = listed.body['data'] as readonly { readonly type: string; readonly data: object }[];
      return events.find(({ type }) => type === 'project.upstream_down')?.data;
    };
    await until(async () => {
      fixture().advance(10_000);
      await gateway.upstreamHealth.runDue();
      return (await find()) !== undefined;
    });
    return find();
  }

  test('is down when nobody listens there, and when it is silent for too long', async () => {
    const server = createServer((socket) => void socket.resume());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const { port } = server.address() as { readonly port: number };
    expect(await failing(`http://127.0.0.1:${port}`, 100)).toMatchObject({ reason: 'timeout', status: null });
    await new Promise((resolve) => server.close(resolve));
    const down = await failing(`http://127.0.0.1:${port}`);
    expect(down).toMatchObject({ reason: 'unreachable' });
    expect(JSON.stringify(down)).not.toContain('127.0.0.1');
  });

  test('is not reached where the guard of the network holds calls off', async () => {
    const receiver = await startReceiver();
    const { pathname, port } = new URL(receiver.origin);
    const hits = receiver.received.length;
    const { storage } = fixture();
    const project = await fixture().newProject({
      upstream: { url: receiver.origin, health: { path: '/', interval: 10 } },
    });
    // What a name resolves to may change after it was checked.
    const record = (await storage.gateway.projects.find(project.id))!;
    const moved = { ...record.upstream, url: `http://10.255.255.1:${port}${pathname}` };
    const next = { ...record, version: record.version + 1, upstream: moved };
    expect(await storage.gateway.projects.replace(next, 'keep', [])).toBe(true);
    const find = () => storage.gateway.projects.find(project.id);
    await until(async () => {
      fixture().advance(10_000);
      await fixture().gateway.upstreamHealth.runDue();
      return (await find())?.upstreamDownSince !== undefined;
    });
    expect(receiver.received.length - hits).toBeLessThanOrEqual(1);
    await receiver.close();
  });
});
