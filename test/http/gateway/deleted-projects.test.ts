import { proofHeader } from '../../helpers/fixtures/gateway-client.js';
import { type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';
import { until } from '../../helpers/until.js';

describe.each(DAILY_DATABASES)('a project that is deleted, on %s', (name, openDatabase) => {
  let fixture: GatewayFixture;
  const opened = useGatewayFixture([name, openDatabase]);
  beforeAll(() => {
    fixture = opened();
  });

  test('keeps its figures, its calls and what it owes for its owner, and for nobody else', async () => {
    const { client, asOwner, project, partner, key } = fixture;
    const path = `/api/v1/projects/${project.id}`;
    const read = async (who: typeof asOwner) => {
      const [one, analytics, calls, payouts] = await Promise.all(
        ['', '/analytics', '/calls', '/payouts'].map((rest) => client.ask('GET', `${path}${rest}`, undefined, who)),
      );
      return { codes: [one, analytics, calls, payouts].map((it) => it?.status), analytics, calls };
    };
    const { signature } = await fixture.pay();
    const called = await client.call(project.slug, { headers: { ...key.headers, ...proofHeader(signature) } });
    expect(called.status).toBe(200);
    // It is written when the response has left.
    const isBooked = async () => JSON.stringify((await read(asOwner)).analytics?.body['totals']).includes('"paid":1');
    await until(isBooked);
    const before = await read(asOwner);
    expect(before.codes).toEqual([200, 200, 200, 200]);
    expect(before.analytics?.body['totals']).toMatchObject({ paid: 1 });

    expect((await client.ask('DELETE', path, undefined, asOwner)).status).toBe(204);
    const after = await read(asOwner);
    expect(after.codes).toEqual([404, 200, 200, 200]);
    expect(after.analytics?.body['totals']).toEqual(before.analytics?.body['totals']);
    expect(after.calls?.body).toEqual(before.calls?.body);
    expect((await read(await client.signIn(partner))).codes).toEqual([404, 404, 404, 404]);
    expect((await client.ask('POST', `${path}/resume`, undefined, asOwner)).status).toBe(404);
  });

  test('leaves nothing long behind, whatever its owner had written', async () => {
    const { client, asOwner, newProject, storage } = fixture;
    const long = 'x'.repeat(500);
    const offers = Array.from({ length: 5 }, (_, at) => ({
      amount: `${at + 1}`,
      token: 'USDC',
      pass: { uses: at + 2 },
    }));
    const { id } = await newProject({
      description: long,
      pricing: { amount: '0.1', token: 'USDC', offers },
      tags: ['weather', 'forecast'],
      metadata: { note: long },
      example: { method: 'POST', path: '', body: long },
      openapi: { openapi: '3.1.0', info: { title: 'x', description: long }, paths: {} },
      routes: Array.from({ length: 20 }, (_, at) => ({ path: `/route-${at}`, free: true })),
      free_calls: { count: 3, window: 'day' },
    });
    const row = { name: 'test_row', text: 'select * from tollhouse_project where id = $1' };
    const bytes = async () => Object.values((await storage.database.query(row, id))[0] ?? {}).join('').length;
    expect(await bytes()).toBeGreaterThan(4_000);
    expect((await client.ask('DELETE', `/api/v1/projects/${id}`, undefined, asOwner)).status).toBe(204);
    expect(await bytes()).toBeLessThan(1_500);
  });
});
