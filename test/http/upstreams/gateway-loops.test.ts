import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { ask, linesOf } from '../../helpers/http/raw-http.js';

const fixture = useGatewayFixture(undefined, { secretsKey: 'a secret for upstreams that is long enough' });
const FREE = { routes: [{ path: '/**', free: true }] };
const hops = (count: number) => Array(count).fill('tollhouse').join(', ');

/** A free project whose upstream is a project of the same gateway, called with a key of its owner. */
const resell = (slug: string, sold: string) =>
  fixture().newProject({
    ...FREE,
    slug,
    upstream: { url: `${fixture().client.url}/v1/${sold}`, headers: fixture().key.headers },
  });
const call = ({ slug }: MadeProject, more: Readonly<Record<string, string>> = {}) =>
  fixture().client.call(`${slug}/x`, { headers: { ...fixture().key.headers, ...more } });

async function callsOf({ id }: MadeProject): Promise<number> {
  const { body } = await fixture().client.ask('GET', `/api/v1/projects/${id}/calls`, undefined, fixture().asOwner);
  return (body['data'] as readonly unknown[]).length;
}

test('a call of a project whose upstream is itself in the end goes round a few times, and no more', async () => {
  const [one, other] = [await resell('ring-one', 'ring-other'), await resell('ring-other', 'ring-one')];
  const { status, body } = await call(one);
  expect([status, body['code'], body['detail']]).toEqual([
    508,
    'gateway_loop',
    expect.stringContaining('upstream.url'),
  ]);
  expect([await callsOf(one), await callsOf(other)]).toEqual([2, 2]);
});

test('a project that sells what another project sells is called as any other', async () => {
  const made = await fixture().newProject(FREE);
  const { status, text } = await call(await resell('sold-twice', (await resell('sold-once', made.slug)).slug));
  expect([status, text]).toEqual([200, 'paid for']);
  expect(fixture().upstream.received.at(-1)?.headers['cdn-loop']).toBe(hops(3));
});

test('a call that is refused as one of a ring takes no money', async () => {
  const { header } = await fixture().pay();
  const { project } = fixture();
  const { status, body } = await call(project, { ...header, 'cdn-loop': hops(4) });
  expect([status, body['code']]).toEqual([508, 'gateway_loop']);
  expect((await call(project, { ...header, 'cdn-loop': `a.example; hops=9, ${hops(3)}, b.example` })).status).toBe(200);
});

test('its caller takes the mark off no call, nor those of other proxies', async () => {
  const { slug } = await fixture().newProject(FREE);
  const sent = linesOf({ ...fixture().key.headers, Connection: 'CDN-Loop', 'CDN-Loop': 'a.example', CDN_Loop: 'x' });
  expect((await ask(fixture().client.url, `GET /v1/${slug}`, sent)).status).toBe(200);
  const { headers } = fixture().upstream.received.at(-1)!;
  expect([headers['cdn-loop'], headers['cdn_loop']]).toEqual(['a.example, tollhouse', undefined]);
});

test('its owner puts nothing in the place of the mark', async () => {
  const wanted = { slug: 'unmarked', upstream: { url: fixture().upstream.origin, headers: { 'CDN-Loop': 'none' } } };
  await expect(fixture().newProject(wanted)).rejects.toThrow('is a header that only the gateway sets');
});
