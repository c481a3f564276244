import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { connectGateway } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { createGate } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const fixture = useGatewayFixture();

test('an owner who asks for figures without end waits for himself, and is told so; others are answered at once', async () => {
  const { gateway, facilitator, storage, project, owner, partner, upstream } = fixture();
  const slow = createGate();
  let asked = 0;
  const analytics: typeof gateway.analytics = {
    ...gateway.analytics,
    async analyze(id, steps) {
      if (id === project.id) asked += 1;
      if (id === project.id) await slow.opened;
      return gateway.analytics.analyze(id, steps);
    },
  };
  const { counters } = storage;
  const identity = createIdentity({ network: 'solana-devnet', jwtSecret: SECRET, counters });
  const router = createRouter({ facilitator, gateway: { ...gateway, analytics }, identity, counters, limits: false });
  const client = await connectGateway(await fixture().serve((app) => app.use(router)));
  const [asOwner, asPartner] = [await client.signIn(owner), await client.signIn(partner)];
  const another = await client.project(asPartner, { slug: 'another', upstream: { url: upstream.origin } });
  const figures = (id: string, by = asOwner) => client.ask('GET', `/api/v1/projects/${id}/analytics`, undefined, by);

  const [refused, answered]: number[][] = [[], []];
  const all = Array.from({ length: 14 }, async () => {
    const { status, headers, body } = await figures(project.id);
    if (status === 200) answered?.push(status);
    else expect([status, body['code'], headers.get('retry-after')]).toEqual([429, 'rate_limited', '1']);
    if (status === 429) refused?.push(status);
  });
  await until(() => refused?.length === 4);
  expect(asked).toBe(2);
  expect((await figures(another.id, asPartner)).status).toBe(200);
  expect((await client.ask('GET', '/api/v1/spending', undefined, asPartner)).status).toBe(200);
  slow.open();
  await Promise.all(all);
  expect(answered).toHaveLength(10);
});
