import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import express from 'express';
import type { EmbeddedFacilitator } from '../../src/facilitator/create-facilitator.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../src/middleware/wallet/require-token-balance.js';
import { readConfiguration } from '../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../src/server/start-server.js';
import { HAS_BROWSER, WHY_NOT } from '../helpers/browser/browser.js';
import { ESSAY, usePaywallStand } from '../helpers/browser/paywall-stand.js';

/** Pictures of the pages go to the folder that is named here. Default: none are made. */
const { SCREENSHOTS } = process.env;
const PAY = 'Pay 0.50 USDC with Test Wallet';
/** Of a server whose pages are somebody's own. */
const BRAND = {
  PAGE_NAME: 'Alpine Data',
  PAGE_COLOURS: 'accent=#0a6b4f',
  PAGE_LOGO: 'data:image/gif;base64,R0lGODlhAQABAAAAACw=',
};
const AGAIN = ':is(#action button, noscript a)';

(HAS_BROWSER ? describe : describe.skip)(`what a browser sees of an outage, in Chromium${WHY_NOT}`, () => {
  const stand = usePaywallStand();
  afterEach(() => stand.fixture.sandbox.faults.clear());

  async function look(name: string): Promise<void> {
    if (SCREENSHOTS === undefined) return;
    mkdirSync(SCREENSHOTS, { recursive: true });
    await stand.page().screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  }

  /** The chain goes away, and the facilitator finds it out. Answers what brings it back. */
  async function lose(facilitator: EmbeddedFacilitator): Promise<() => void> {
    const gone = stand.fixture.sandbox.faults.add({ kind: 'disconnect' });
    await facilitator.health();
    return () => gone.remove();
  }

  /** Tries again as a reader does, until something is shown. */
  async function tryUntil(selector: string): Promise<void> {
    const page = stand.page();
    for (;;) {
      await Promise.all([page.waitForEvent('load'), page.click(AGAIN)]);
      if ((await page.$('h1:text-is("Not available at the moment"), h1:text-is("Zurzeit nicht verfügbar")')) === null)
        break;
    }
    await page.waitForSelector(selector);
  }

  function serve(facilitator: EmbeddedFacilitator) {
    const { payTo } = stand.fixture;
    return stand.fixture.serve((app) => {
      const gate = requirePayment({ facilitator, payTo, price: '$0.50', page: { name: 'The Magazine' } });
      app.get('/essay', gate, (_req, res) => void res.type('html').send(ESSAY));
      app.post('/say', gate, express.urlencoded({ extended: true }), (req, res) => {
        res.send(`<p id="text">${req.body.text}</p>`);
      });
      app.get('/form', (_req, res) => {
        res.send('<form method="post" action="/say"><input name="text" value="well"><button>say it</button></form>');
      });
    });
  }

  test('while the chain is away the page says so, programs get a problem, and a reload goes on', async () => {
    const facilitator = stand.facilitatorWith({});
    const url = await serve(facilitator);
    const bringBack = await lose(facilitator);
    const page = await stand.reader({ locale: 'de' });
    await stand.wallet();
    const shown = await page.goto(`${url}/essay`);
    expect([shown?.status(), await page.textContent('h1')]).toEqual([503, 'Zurzeit nicht verfügbar']);
    expect([await page.textContent('code'), await page.textContent('.brand')]).toEqual([
      'payment_backend_unavailable',
      'The Magazine',
    ]);
    await look('outage');
    const program = await fetch(`${url}/essay`);
    expect([program.status, program.headers.get('content-type')]).toEqual([503, 'application/problem+json']);
    bringBack();
    await tryUntil('text=mit Test Wallet');
    expect(stand.faults).toEqual([]);
  });

  test('a form that met an outage is sent again with all that it said', async () => {
    await stand.wallet();
    const facilitator = stand.facilitatorWith({});
    const url = await serve(facilitator);
    const page = stand.page();
    await page.goto(`${url}/form`);
    const bringBack = await lose(facilitator);
    await stand.press('say it');
    await page.waitForSelector('h1:has-text("Not available")');
    bringBack();
    await tryUntil(`text=${PAY}`);
    await stand.press(PAY);
    expect([await stand.read(), stand.settled()]).toEqual(['well', 1]);
  });

  test('a gate for wallets that cannot look at one says so, and lets in later who has signed in', async () => {
    const facilitator = stand.facilitatorWith({});
    const url = await stand.fixture.serve((app) => {
      const gate = requireTokenBalance({ facilitator, mint: 'USDC', minBalance: 100 });
      app.get('/club', gate, (_req, res) => void res.type('html').send(ESSAY));
    });
    await stand.wallet();
    const page = stand.page();
    await page.goto(`${url}/club`);
    const gone = stand.fixture.sandbox.faults.add({ kind: 'disconnect' });
    await stand.press('Sign in with Test Wallet');
    await page.waitForSelector('h1:has-text("Not available")');
    expect(await page.textContent('code')).toBe('chain_unavailable');
    gone.remove();
    await tryUntil('#text');
  });

  test('without JavaScript there is a way to try again', async () => {
    const facilitator = stand.facilitatorWith({});
    const url = await serve(facilitator);
    const bringBack = await lose(facilitator);
    const page = await stand.reader({ javaScriptEnabled: false });
    await page.goto(`${url}/essay`);
    bringBack();
    await tryUntil('h1:has-text("This page has a price")');
  });
});

(HAS_BROWSER ? describe : describe.skip)(`what a browser sees where nothing is, in Chromium${WHY_NOT}`, () => {
  const stand = usePaywallStand();
  let server: RunningServer;

  beforeAll(async () => {
    const settings = { PORT: '0', LOG_LEVEL: 'silent', DATABASE_URL: 'memory:', RATE_LIMIT_SCALE: '100', ...BRAND };
    server = await startServer(readConfiguration(settings));
  });
  afterAll(() => server.close());

  test.each([
    ['/', 200],
    ['/api/v1/marketplace', 200],
    ['/demo', 402],
    ['/nothing', 404],
  ])('%s has the name, the logo and the colours that the server was given', async (path, status) => {
    const page = await stand.reader();
    expect((await page.goto(server.url + path))?.status()).toBe(status);
    const accent = await page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent')");
    expect([accent, await page.textContent('.brand')]).toEqual(['#0a6b4f', 'Alpine Data']);
    expect(await page.getAttribute('.brand img', 'src')).toBe(BRAND.PAGE_LOGO);
    expect(stand.faults).toEqual([]);
  });

  test.each([
    ['an unknown address', '/nothing/here', 'not_found'],
    ['an unknown listing', '/api/v1/marketplace/nobodys', 'project_not_found'],
    ['an unknown project', '/v1/nobodys/forecast', 'project_not_found'],
    ['an unknown receipt', '/receipts/1111', 'payment_not_found'],
  ])('%s of the server is a page, and a problem for programs', async (_what, path, code) => {
    const page = await stand.reader({ locale: 'fr' });
    const shown = await page.goto(server.url + path);
    expect([shown?.status(), await page.textContent('h1')]).toEqual([404, 'Il n’y a rien ici']);
    await page.setViewportSize({ width: 1100, height: 600 });
    if (SCREENSHOTS !== undefined) await page.screenshot({ path: join(SCREENSHOTS, `${code}.png`) });
    await page.click('main >> text=Place de marché');
    expect(new URL(page.url()).pathname).toBe('/api/v1/marketplace');
    const program = await fetch(server.url + path);
    expect([program.status, await program.json()]).toEqual([404, expect.objectContaining({ code })]);
    expect(stand.faults).toEqual([]);
  });
});
