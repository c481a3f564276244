import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>'</title></script>`;

const fixture = useGatewayFixture();
let url: string;
let signature: string;

beforeAll(async () => {
  const { facilitator, payTo, router, newProject, pay } = fixture();
  requirePayment({ facilitator, payTo, price: '$0.01', description: HOSTILE, discovery: { path: '/sold' } });
  await newProject({
    ...{ visibility: 'listed', slug: 'hostile', tags: ['a b'] },
    name: HOSTILE.slice(0, 80),
    description: HOSTILE,
    example: { method: 'POST', path: '/x', body: { text: HOSTILE } },
    openapi: { info: { title: HOSTILE } },
  });
  url = await fixture().serve((app) => app.use(router));
  signature = (await pay()).signature;
});

const ask = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers });
const asBrowser = (path: string, headers: Record<string, string> = {}) => ask(path, { Accept: BROWSER, ...headers });
const typeOf = ({ headers }: Response) => headers.get('content-type')?.split(';')[0];

const PAGES = ['/', '/api/v1/marketplace', '/api/v1/marketplace/hostile', () => `/receipts/${signature}`] as const;
const pathOf = (it: (typeof PAGES)[number]) => (typeof it === 'string' ? it : it());

describe.each(PAGES.map((it) => [typeof it === 'string' ? it : '/receipts/<signature>', it] as const))(
  'the page at %s',
  (_name, given) => {
    test.each([
      ['no wish', {}],
      ['any', { Accept: '*/*' }],
      ['JSON', { Accept: 'application/json' }],
      ['JSON before HTML', { Accept: 'application/json, text/html;q=0.9' }],
      ['HTML, by the script of a page', { Accept: BROWSER, 'Sec-Fetch-Dest': 'empty' }],
    ])('is JSON for a client that names %s', async (_name, headers) => {
      const response = await ask(pathOf(given), headers);
      expect([response.status, typeOf(response)]).toEqual([200, 'application/json']);
      expect(typeof (await response.json())).toBe('object');
    });

    test('is a page for a browser, and caches are told what decided', async () => {
      const response = await asBrowser(pathOf(given));
      expect([response.status, typeOf(response)]).toEqual([200, 'text/html']);
      const varied = response.headers.get('vary')?.toLowerCase().split(/, */);
      expect(varied).toEqual(expect.arrayContaining(['accept', 'sec-fetch-dest', 'accept-language']));
      expect(response.headers.get('cache-control')).toMatch(/private|no-store/);
    });

    test('lets nothing of others run', async () => {
      const response = await asBrowser(pathOf(given));
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).not.toContain('unsafe');
      const html = await response.text();
      const [, nonce] = /'nonce-([^']+)'/.exec(policy) ?? [];
      for (const [, attributes] of html.matchAll(/<(?:script|style)\b([^>]*)>/g)) {
        expect(attributes).toMatch(new RegExp(`nonce="${nonce?.replaceAll(/[+/]/g, '\\$&')}"|type="application/json"`));
      }
      expect(html).not.toMatch(/<img src=x|<script>alert|\sonerror=alert\(1\)>|\sstyle="/);
      expect((await asBrowser(pathOf(given))).headers.get('content-security-policy')).not.toBe(policy);
    });

    test('has at most 60 KB on the wire, and asks nobody else', async () => {
      const html = await (await asBrowser(pathOf(given))).text();
      expect(Buffer.byteLength(html)).toBeLessThan(60_000);
      const loaded = [...html.matchAll(/<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="([^"]*)"/g)].map(
        ([, it]) => it,
      );
      expect(loaded.filter((it) => !/^(?:\/(?!\/)|data:image)/.test(it ?? ''))).toEqual([]);
    });
  },
);

test.each(EXPRESSES)('on %s the document of the API is a page for everybody', async (_name, express) => {
  const own = await fixture().serve((app) => app.use('/pay', fixture().router), express);
  const response = await fetch(`${own}/pay/docs`);
  const html = await response.text();
  expect([response.status, typeOf(response)]).toEqual([200, 'text/html']);
  expect(html).toContain('id="createPayment"');
  expect(html).toContain('href="/pay/api/v1/marketplace"');
  expect(html).not.toContain('<script>alert');
});

test('a search of a hostile text is shown as a text', async () => {
  const html = await (
    await asBrowser(`/api/v1/marketplace?q=${encodeURIComponent(HOSTILE)}&token=%22%3E%3Cb%3E`)
  ).text();
  expect(html).toContain('value="&quot;&gt;&lt;img');
  expect(html).not.toContain('<img src=x');
});

test('a host that is no host leads nobody to another site', async () => {
  const html = await (await asBrowser('/', { Host: 'evil"onload=x' })).text();
  expect([...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, it]) => it)).toEqual(
    expect.not.arrayContaining([expect.stringContaining('evil')]),
  );
});

test('the brand and the words of an operator stand on the pages', async () => {
  const page = {
    name: 'The <Shop>',
    logo: '/logo.svg',
    colours: { light: { accent: '#123456' } },
    texts: { en: { service: { tagline: 'Mine & yours' } }, de: { service: { tagline: 'Meins' } } },
  };
  const { facilitator } = fixture();
  const own = await fixture().serve((app) => app.use(createRouter({ facilitator, page })));
  const html = await (await fetch(own, { headers: { Accept: BROWSER } })).text();
  expect(html).toContain('The &lt;Shop&gt;');
  expect(html).toContain('Mine &amp; yours');
  expect(html).toContain('--accent:#123456');
  const german = await fetch(own, { headers: { Accept: BROWSER, 'Accept-Language': 'de-AT, en;q=0.5' } });
  expect(await german.text()).toMatch(/<html lang="de">[\s\S]*Meins/);
});

test('without pages there is JSON for everybody, and no document to read', async () => {
  const { facilitator } = fixture();
  const own = await fixture().serve((app) => {
    app.use(createRouter({ facilitator, page: false }));
    app.get('/docs', (_req, res) => void res.send('the docs of the app'));
  });
  expect(typeOf(await fetch(own, { headers: { Accept: BROWSER } }))).toBe('application/json');
  expect(await (await fetch(`${own}/docs`)).text()).toBe('the docs of the app');
});

test('createRouter refuses a page that is none', () => {
  const { facilitator } = fixture();
  const page = { colours: { light: { accent: 'red;}' } } };
  expect(() => createRouter({ facilitator, page })).toThrow(/a colour such as #4a32c9/);
});

describe('a receipt', () => {
  test('of a transaction tells what it brought to whom, and when', async () => {
    const { owner, partner, payer } = fixture();
    const from = payer.publicKey.toBase58();
    const line = (to: string, amount: string) => ({ to, from, amount, token: 'USDC' });
    expect(await (await ask(`/receipts/${signature}`)).json()).toMatchObject({
      ...{ status: 'settled', network: 'solana-devnet', mode: 'test', tx_signature: signature, payment_id: null },
      paid_at: expect.stringMatching(/^\d{4}-.*Z$/),
      explorer_url: `${url}/explorer/tx/${signature}`,
      lines: expect.arrayContaining([
        line(owner.publicKey.toBase58(), '0.011113'),
        line(partner.publicKey.toBase58(), '0.001234'),
      ]),
    });
  });

  test('of a payment that was created here tells what was asked for, paid or not', async () => {
    const { payTo } = fixture();
    const created = await fetch(`${url}/create-payment`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ amount: '1.5', token: 'USDC', recipient: payTo, memo: '<b>order 7' }),
    });
    const { payment_id: id } = (await created.json()) as { payment_id: string };
    expect(await (await ask(`/receipts/${id}`)).json()).toMatchObject({
      ...{ status: 'created', payment_id: id, tx_signature: null, paid_at: null, memo: '<b>order 7' },
      lines: [{ to: payTo, from: null, amount: '1.5', token: 'USDC' }],
    });
    const html = await (await asBrowser(`/receipts/${id}`)).text();
    expect(html).toContain('Not paid yet');
    expect(html).toContain('&lt;b&gt;order 7');
    const german = await (await asBrowser(`/receipts/${id}`, { 'Accept-Language': 'de' })).text();
    expect(german).toContain('<strong class="price">1,50 USDC</strong>');
  });

  test('of test money says so before it says what was paid', async () => {
    const html = await (await asBrowser(`/receipts/${signature}`)).text();
    const said = html.indexOf('Test payment, on Solana devnet');
    expect(said).toBeGreaterThan(0);
    expect(said).toBeLessThan(html.indexOf('Paid'));
  });

  test.each([
    ['an unknown id', 'pay_nobody'],
    ['an unknown signature', '1'.repeat(88)],
    ['too long a name', 'x'.repeat(500)],
  ])('of %s is not there', async (_what, name) => {
    const response = await ask(`/receipts/${name}`);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([404, 'payment_not_found']);
  });
});
