import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';

/** What a proxy takes off before it passes requests on. */
const PREFIX = '/shop/api';

describe('a gateway behind a proxy that takes off a part of the path', () => {
  const fixture = useGatewayFixture(undefined, { baseUrl: `https://site.example${PREFIX}/` });

  test.each([302, 201])('names in a paid %d a place that its caller reaches', async (status) => {
    const { upstream, client, key, newProject, pay } = fixture();
    upstream.respond((res) => void res.writeHead(status, { location: '/there?a=1#b' }).end());
    const project = await newProject();
    const { header } = await pay({ project });
    const answer = await client.call(project.slug, { headers: { ...key.headers, ...header }, redirect: 'manual' });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('location')).toBe(`${PREFIX}/v1/${project.slug}/there?a=1#b`);
  });
});
