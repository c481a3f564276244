import { createRouter } from '../../../src/http/create-router.js';
import type { MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const HOSTILE = `"><img src=x onerror=alert(1)>'`;

const fixture = useGatewayFixture();
let url: string;
let quiet: MadeProject;

beforeAll(async () => {
  const { newProject, router } = fixture();
  await newProject({
    ...{
      visibility: 'listed',
      slug: 'weather',
      name: 'The weather of the Alps',
      description: `Wind & snow ${HOSTILE}`,
    },
    pricing: { amount: '0.01', token: 'USDC' },
    free_calls: { count: 10, window: 'day' },
    routes: [
      { method: 'GET', path: '/reports/**', price: { amount: '0.05', token: 'USDC' } },
      { path: '/health', free: true },
      { path: '/admin/**', deny: 404 },
    ],
  });
  quiet = await newProject({ visibility: 'unlisted', name: 'Quiet', description: 'For the marketplace.' });
  await newProject({ visibility: 'private', slug: 'hidden' });
  url = await fixture().serve((app) => app.use('/pay', router));
});

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${url}/pay/v1/${path}`, { method, headers });
const asBrowser = (path: string, headers: Record<string, string> = {}) => ask(path, { Accept: BROWSER, ...headers });
const pageOf = async (path: string, headers?: Record<string, string>) => (await asBrowser(path, headers)).text();
const typeOf = ({ headers }: Response) => headers.get('content-type')?.split(';')[0];
const linksOf = (html: string) => [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, it]) => it);

describe('a browser that opens a project without a service key', () => {
  test('is told what is called there, what a call costs, and that it takes a key', async () => {
    const page = await asBrowser('weather/today');
    const html = await page.text();
    expect([page.status, typeOf(page)]).toEqual([401, 'text/html']);
    expect(html).toContain('<h1>The weather of the Alps</h1>');
    expect(html).toContain('Wind &amp; snow &quot;&gt;&lt;img');
    expect(html).toContain('A call needs a service key');
    expect(html).toMatch(/<strong class="price">0\.01 USDC<\/strong> <span class="soft">1 request/);
    expect(html).toContain('10 free calls a day for each key');
  });

  test('reads prices as its reader writes them, here and in the marketplace', async () => {
    const german = { 'Accept-Language': 'de' };
    const market = (path: string) =>
      fetch(`${url}/pay/api/v1/marketplace${path}`, { headers: { Accept: BROWSER, ...german } });
    expect(await pageOf('weather/reports/1', german)).toContain('<strong class="price">0,05 USDC</strong>');
    expect(await (await market('')).text()).toContain('<strong>0,01–0,05 USDC</strong>');
    const listing = await (await market('/weather')).text();
    expect(listing.match(/[\d,.]+ USDC/g)).toEqual(['0,01 USDC', '0,05 USDC', '0,01 USDC']);
  });

  test('is led to the listing and to where a key is made, wherever the service is mounted', async () => {
    const html = await pageOf('weather');
    expect(linksOf(html)).toEqual(
      expect.arrayContaining(['/pay/api/v1/marketplace/weather', '/pay/docs#generateKey', '/pay/']),
    );
    expect(html).toContain(`npx tollhouse login --server &#39;${url}/pay&#39; --keypair wallet.json`);
    const operations = await (await fetch(`${url}/pay/docs`)).text();
    expect(operations).toContain('id="generateKey"');
    expect((await fetch(`${url}/pay/api/v1/marketplace/weather`)).status).toBe(200);
  });

  test('is led to no listing of a project that has none, and told of none that is private', async () => {
    const html = await pageOf(quiet.slug);
    expect([html.includes('<h1>Quiet</h1>'), html.includes('For the marketplace.')]).toEqual([true, false]);
    expect(linksOf(html).filter((it) => it?.includes(quiet.slug))).toEqual([]);
    const hidden = await asBrowser('hidden');
    expect([hidden.status, (await hidden.text()).includes('service key')]).toEqual([404, false]);
  });

  test('is told the price of the call that it made', async () => {
    expect(await pageOf('weather/reports/1')).toContain('<strong class="price">0.05 USDC</strong>');
    const free = await pageOf('weather/health');
    expect(free).toContain('Free calls need a service key, and no payment.');
    expect(free).not.toContain('0.01 USDC');
    const denied = await pageOf('weather/admin/x');
    expect(denied).toContain('<strong class="price">0.01 USDC</strong>');
    expect(denied).not.toContain('/admin/x');
  });

  test('gets status and headers of the answer that programs get', async () => {
    const [page, json] = [await asBrowser('weather'), await ask('weather')];
    const kept = ['cache-control', 'www-authenticate', 'x-service-error', 'access-control-expose-headers'];
    for (const name of kept) expect([name, page.headers.get(name)]).toEqual([name, json.headers.get(name)]);
    expect([json.status, page.status]).toEqual([401, 401]);
    expect(page.headers.get('vary')).toContain(json.headers.get('vary') ?? 'nothing');
  });

  test.each([
    ['no wish', {}, 'GET'],
    ['any', { Accept: '*/*' }, 'GET'],
    ['JSON', { Accept: 'application/json' }, 'GET'],
    ['HTML, by the script of a page', { Accept: BROWSER, 'Sec-Fetch-Dest': 'empty' }, 'GET'],
    ['HTML, and sends something', { Accept: BROWSER }, 'POST'],
    ['HTML, and shows half a key', { Accept: BROWSER, 'X-Service-Key': 'sk_test_half' }, 'GET'],
  ] as const)('differs from a program that names %s, which gets JSON', async (_name, headers, method) => {
    const response = await ask('weather', headers, method);
    expect([response.status, typeOf(response)]).toEqual([401, 'application/problem+json']);
    expect(await response.json()).toMatchObject({ code: 'unauthenticated' });
  });

  test.each(['de', 'es', 'fr', 'zh', 'ja'])('reads it in %s, with no place left open', async (language) => {
    const html = await pageOf('weather', { 'Accept-Language': language });
    expect(html).toContain(`<html lang="${language}">`);
    const said = html.slice(html.indexOf('<main'));
    expect(said).not.toMatch(/\{\w+\}|service key|Get a key|undefined/);
  });

  test('finds nothing in it that was written by others and runs', async () => {
    const html = await pageOf(`weather/x?q=${encodeURIComponent(HOSTILE)}'"><script>alert(1)</script>`);
    expect(html).not.toMatch(/<img src=x|<script>alert/);
  });

  test('gets JSON where the service has no pages', async () => {
    const { facilitator, gateway } = fixture();
    const plain = await fixture().serve((app) => app.use(createRouter({ facilitator, gateway, page: false })));
    expect(typeOf(await fetch(`${plain}/v1/weather`, { headers: { Accept: BROWSER } }))).toBe(
      'application/problem+json',
    );
  });

  test('is led to no key where the service gives none', async () => {
    const { facilitator, gateway } = fixture();
    const plain = await fixture().serve((app) => app.use(createRouter({ facilitator, gateway })));
    const html = await (await fetch(`${plain}/v1/weather`, { headers: { Accept: BROWSER } })).text();
    expect(html).toContain('A call needs a service key');
    expect(html).not.toMatch(/generateKey|marketplace|tollhouse login/);
  });
});

test('a browser that opens a project which rests is told that nothing is sold until it does', async () => {
  const { newProject, client, asOwner } = fixture();
  const { id, slug } = await newProject({ visibility: 'listed' });
  await client.ask('POST', `/api/v1/projects/${id}/pause`, {}, asOwner);
  const page = await asBrowser(slug);
  const html = await page.text();
  expect([page.status, html.includes('Nothing is sold until it does')]).toEqual([503, true]);
  expect(html).not.toContain('Who may come in');
});

test('the home of the service promises no calls without a key', async () => {
  const html = await (await fetch(`${url}/pay/`, { headers: { Accept: BROWSER } })).text();
  expect(html).not.toContain('no account');
  expect(html).toMatch(/APIs of many sellers[^<]*service key/);
});
