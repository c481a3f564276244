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
});
