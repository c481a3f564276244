import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { HAS_BROWSER, openBrowser, WHY_NOT } from '../helpers/browser/browser.js';
import { installWallet } from '../helpers/browser/test-wallet.js';
import { useGatewayFixture } from '../helpers/fixtures/gateway-fixture.js';

/** Pictures of all pages go to the folder that is named here. Default: none are made. */
const { SCREENSHOTS } = process.env;
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const LOOKS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['desk-light', { viewport: { width: 1100, height: 800 }, colorScheme: 'light' }],
  ['desk-dark', { viewport: { width: 1100, height: 800 }, colorScheme: 'dark' }],
  ['phone-light', { viewport: { width: 390, height: 800 }, isMobile: true, colorScheme: 'light' }],
  ['phone-dark', { viewport: { width: 390, height: 800 }, isMobile: true, colorScheme: 'dark' }],
  ['phone-twice-as-large', { viewport: { width: 160, height: 400 } }],
];
const PLACES = ['front', 'marketplace', 'listing', 'posted', 'docs', 'receipt'] as const;
const SUMMIT = { method: 'GET', path: '/matterhorn' };

(HAS_BROWSER ? describe : describe.skip)(`the pages of the service, in Chromium${WHY_NOT}`, () => {
  const fixture = useGatewayFixture();
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let url: string;
  let paths: Readonly<Record<(typeof PLACES)[number], string>>;
  const faults: string[] = [];

  beforeAll(async () => {
    const { facilitator, payTo, router, newProject, pay } = fixture();
    requirePayment({ facilitator, payTo, price: '$0.01', description: 'A greeting', discovery: { path: '/demo' } });
    const listed = { visibility: 'listed', tags: ['weather', 'alps'] };
    await newProject({
      ...{ ...listed, slug: 'weather', name: 'The weather of the Alps', example: SUMMIT },
      description: 'Wind, snow and temperature above 2,000 metres, hour by hour, for every summit that has a name.',
    });
    await newProject({
      ...listed,
      slug: 'words',
      name: 'Words',
      example: { method: 'POST', path: '', body: { q: 1 } },
    });
    url = await fixture().serve((app) => app.use(router));
    const { signature } = await pay();
    paths = {
      front: '/',
      marketplace: '/api/v1/marketplace',
      listing: '/api/v1/marketplace/weather',
      posted: '/api/v1/marketplace/words',
      docs: '/docs#createPayment',
      receipt: `/receipts/${signature}`,
    };
    browser = await openBrowser();
  });
  afterAll(() => browser.close());
  afterEach(() => context.close());

  async function openPage(options: BrowserContextOptions = {}): Promise<void> {
    context = await browser.newContext(options);
    page = await context.newPage();
    faults.length = 0;
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
    page.on('pageerror', (error) => faults.push(String(error)));
  }

  async function fillKey(): Promise<void> {
    for (const [name, value] of Object.entries(fixture().key.headers)) {
      await page.fill(`[data-credential="${name}" i]`, value);
    }
  }

  /** What axe has against the page. */
  async function axeFindings(): Promise<readonly string[]> {
    await page.evaluate(AXE);
    const { violations } = (await page.evaluate('axe.run()')) as {
      violations: { id: string; nodes: { html: string }[] }[];
    };
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  }

  describe.each(LOOKS)('in %s', (look, options) => {
    beforeEach(() => openPage(options));

    test.each(PLACES)('%s breaks no rule of axe, its own policy, or the width of the screen', async (place) => {
      await page.goto(url + paths[place]);
      if (SCREENSHOTS !== undefined) {
        mkdirSync(SCREENSHOTS, { recursive: true });
        await page.screenshot({ path: join(SCREENSHOTS, `${place}-${look}.png`) });
      }
      if (!options.isMobile) expect(await axeFindings()).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(faults).toEqual([]);
    });
  });

  test.each([320, 768, 1100])('a choice of the marketplace is read to its end at %i px, in German', async (width) => {
    await openPage({ locale: 'de', viewport: { width, height: 800 } });
    await page.goto(url + paths.marketplace);
    const [has, needs] = await page.evaluate<readonly [number, number]>(`(() => {
      const select = document.querySelector('select');
      const has = select.offsetWidth;
      Object.assign(select.style, { position: 'absolute', width: 'max-content' });
      return [has, select.offsetWidth];
    })()`);
    expect(has).toBeGreaterThanOrEqual(needs);
  });

  test('an operation is tried out in place, with a key that goes along and is kept nowhere', async () => {
    await openPage();
    await page.goto(`${url}/docs#listKeys`);
    await fillKey();
    await page.click('#listKeys button');
    await page.waitForSelector('#listKeys .answer pre + h3 + pre:not(:empty)');
    expect(await page.textContent('#listKeys .answer h3')).toMatch(/^Status: (200|403)$/);
    expect(await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length')).toBe(0);
    await page.reload();
    expect(await page.inputValue('[data-credential=X-Service-Key]')).toBe('');
  });

  test('a body is sent as it was written, and what was wrong with it is shown', async () => {
    await openPage();
    await page.goto(`${url}/docs#createPayment`);
    const { payTo } = fixture();
    const asked = { amount: 1, token: 'USDC', recipient: payTo };
    await page.fill('#createPayment textarea', JSON.stringify(asked));
    await page.click('#createPayment button');
    await page.waitForSelector('#createPayment .answer pre:has-text("payment_id")');
    await page.fill('#createPayment textarea', '{');
    await page.click('#createPayment button');
    await page.waitForSelector('#createPayment .answer pre:has-text("invalid_json")');
  });

  test('the API is read without JavaScript, and nothing is shown that would not work', async () => {
    await openPage({ javaScriptEnabled: false });
    await page.goto(`${url}/docs`);
    expect(await page.isVisible('#createPayment h3')).toBe(false);
    await page.click('#createPayment summary');
    expect(await page.isVisible('#createPayment h3')).toBe(true);
    expect([await page.isVisible('#createPayment form'), await page.isVisible('#credentials')]).toEqual([false, false]);
  });

  test.each([
    ['listing', 'GET'],
    ['posted', 'POST'],
  ] as const)(
    'the %s is tried on the spot by %s: a wallet pays, and the answer is shown there',
    async (place, _method) => {
      await openPage();
      const { payer, hits } = fixture();
      await installWallet(context, { keypair: payer });
      const before = hits();
      await page.goto(url + paths[place]);
      await fillKey();
      await page.click('text=/^Pay .* with Test Wallet/');
      await page.waitForSelector('#answer pre:has-text("paid for")');
      expect([await page.textContent('#answer h3'), hits() - before]).toEqual(['Status: 200', 1]);
      expect(page.url()).toBe(url + paths[place]);
      expect(faults.filter((it) => !it.includes('402'))).toEqual([]);
    },
  );

  test('each price of a listing is tried: a pack is bought by its own price, and told in the answer', async () => {
    await openPage({ viewport: { width: 1100, height: 1200 } });
    const { payer, hits, newProject } = fixture();
    const pack = { amount: '0.5', token: 'USDC', pass: { uses: 100, for: '24h' } };
    const pricing = { amount: '0.01', token: 'USDC', offers: [pack] };
    await newProject({ slug: 'packs', name: 'Packs', visibility: 'listed', example: SUMMIT, pricing });
    await installWallet(context, { keypair: payer });
    const before = hits();
    await page.goto(`${url}/api/v1/marketplace/packs`);
    await fillKey();
    await page.waitForSelector('text=Pay 0.01 USDC with Test Wallet');
    await page.click('text=100 requests within 24 hours >> nth=-1');
    if (SCREENSHOTS !== undefined) await page.screenshot({ path: join(SCREENSHOTS, 'packs.png'), fullPage: true });
    await page.click('text=Pay 0.50 USDC with Test Wallet');
    await page.waitForSelector('#answer pre:has-text("access-pass-remaining: 99")');
    expect([await page.textContent('#answer h3'), hits() - before]).toEqual(['Status: 200', 1]);
  });

  test('without a service key a listing says that one is needed, and nothing is signed', async () => {
    await openPage();
    const wallet = await installWallet(context, { keypair: fixture().payer });
    await page.goto(url + paths.listing);
    await page.click('text=/^Pay .* with Test Wallet/');
    await page.waitForSelector('#status:has-text("Send a service key")');
    expect(wallet.signed()).toBe(0);
  });

  test('the pages are gone through by the keyboard alone', async () => {
    await openPage();
    await page.goto(`${url}/`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('skip');
    while ((await page.evaluate('document.activeElement.textContent')) !== 'Marketplace')
      await page.keyboard.press('Tab');
    await Promise.all([page.waitForURL('**/api/v1/marketplace'), page.keyboard.press('Enter')]);
    expect(await page.title()).toBe('Marketplace · Tollhouse');
  });
});
