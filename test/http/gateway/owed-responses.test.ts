import { createMetrics } from '../../../src/http/service/metrics.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { readFigures } from '../../helpers/http/figures.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';

const NETWORK = 'solana-devnet';

describe.each(DAILY_DATABASES)('money that has landed and that nobody has come for, on %s', (...database) => {
  const fixture = useGatewayFixture(database);

  const analyticsOf = async (id: string) =>
    (await fixture().client.ask('GET', `/api/v1/projects/${id}/analytics`, undefined, fixture().asOwner)).body;

  /** What a service says that is asked for its figures for the first time. */
  async function figures() {
    const { facilitator, gateway, storage } = fixture();
    const metrics = createMetrics({ ...facilitator, storage }, gateway);
    return readFigures((await metrics.expose())!.text);
  }

  test('is what its seller, its payer and the operator are told is owed, until it is served', async () => {
    const { client, newProject, newCaller, pay } = fixture();
    const [project, caller] = [await newProject(), await newCaller()];
    const none = { open: 0, owed: {}, owed_atomic: {}, oldest: null };
    expect((await analyticsOf(project.id))['responses']).toEqual(none);
    const before = (await figures()).value('tollhouse_owed_responses', { network: NETWORK });
    const { header } = await pay({ project, caller });

    const { responses } = await analyticsOf(project.id);
    expect(responses).toEqual({
      open: 1,
      owed: { USDC: '0.012347' },
      owed_atomic: { USDC: '12347' },
      oldest: expect.any(String),
    });
    const asPayer = await client.signIn(caller.wallet);
    const spending = async () =>
      (await client.ask('GET', `/api/v1/spending?project=${project.id}`, undefined, asPayer)).body['responses'];
    const owed = { project_id: project.id, amount_atomic: '12347', token: 'USDC', network: NETWORK, mode: 'test' };
    expect(await spending()).toEqual([
      expect.objectContaining({ ...owed, paid_at: Reflect.get(Object(responses), 'oldest') }),
    ]);
    const told = await figures();
    expect(told.value('tollhouse_owed_responses', { network: NETWORK })).toBe(before! + 1);
    expect(told.value('tollhouse_owed_tokens', { kind: 'responses', network: NETWORK, token: 'USDC' })).toBeCloseTo(
      0.012347 * (before! + 1),
    );
    expect(told.value('tollhouse_owed_responses_oldest_seconds', { network: NETWORK })).toBeGreaterThan(0);

    const answer = await client.call(project.slug, { headers: { ...caller.key.headers, ...header } });
    expect(answer.status).toBe(200);
    expect((await analyticsOf(project.id))['responses']).toMatchObject({ open: 0, oldest: null });
    expect(await spending()).toEqual([]);
    expect((await figures()).value('tollhouse_owed_responses', { network: NETWORK })).toBe(before);
  });
});
