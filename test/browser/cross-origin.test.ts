import type { Express } from 'express';
import type { Browser, Page } from 'playwright-core';
import { crossOrigin } from '../../src/middleware/gate/cross-origin.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../src/middleware/wallet/require-token-balance.js';
import { askFromPage, fetchOfPage, HAS_BROWSER, openBrowser, WHY_NOT } from '../helpers/browser/browser.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { payingFetch } from '../helpers/http/official-clients.js';
import { signInHeader, signInInfo, walletKey } from '../helpers/transactions/wallet-key.js';

const HTML = '<!doctype html><title>a shop</title>';

(HAS_BROWSER ? describe : describe.skip)(`a page on another origin, in Chromium${WHY_NOT}`, () => {
  let fixture: TollFixture;
  let browser: Browser;
  let shop: Page;
  let stranger: Page;
  let origins: string[];

  beforeAll(async () => {
    fixture = await openTollFixture();
    browser = await openBrowser();
    const site = () => fixture.serve((app) => app.get('/', (_req, res) => void res.type('html').send(HTML)));
    const [shopUrl, strangerUrl] = await Promise.all([site(), site()]);
    origins = [shopUrl];
    [shop, stranger] = await Promise.all([browser.newPage(), browser.newPage()]);
    await Promise.all([shop.goto(shopUrl), stranger.goto(strangerUrl)]);
  });
  afterAll(async () => {
    await browser.close();
    await fixture.close();
  });

  function gate() {
    const { facilitator, payTo } = fixture;
    return requirePayment({ facilitator, payTo, price: '$0.01' });
  }

  async function payFrom(page: Page, url: string): Promise<Response> {
    const { payer, sandbox } = fixture;
    const pay = await payingFetch({ wallet: payer, rpcUrl: sandbox.rpcUrl }, fetchOfPage(page));
    return pay(url);
  }

  test.each<[string, (app: Express) => void]>([
    ['app.get', (app) => void app.get('/report', gate(), (_req, res) => void res.send('paid for'))],
    ['app.all', (app) => void app.all('/report', gate(), (_req, res) => void res.send('paid for'))],
    ['app.use', (app) => void app.use('/report', gate(), (_req, res) => void res.send('paid for'))],
  ])(
    'pays at a gate of %s with the official client, and reads the receipt; one that is not named does not',
    async (_, mount) => {
      const url = await fixture.serve((app) => {
        app.use(crossOrigin({ origins }));
        mount(app);
      });
      const answer = await payFrom(shop, `${url}/report`);
      expect([answer.status, await answer.text()]).toEqual([200, 'paid for']);
      expect(answer.headers.get('payment-response')).not.toBeNull();
      await expect(payFrom(stranger, `${url}/report`)).rejects.toThrow('Failed to fetch');
    },
  );

  test('signs in with its wallet, when every origin may', async () => {
    const { facilitator } = fixture;
    const url = await fixture.serve((app) => {
      app.use(crossOrigin());
      app.get(
        '/club',
        requireTokenBalance({ facilitator, mint: 'USDC', minBalance: 0 }),
        (_, res) => void res.send('in'),
      );
    });
    const refused = await askFromPage(shop, `${url}/club`);
    if ('refused' in refused) throw new Error(refused.refused);
    const proof = signInHeader(walletKey('alice'), signInInfo(JSON.parse(refused.body)));
    const entered = await askFromPage(shop, `${url}/club`, { headers: { 'SIGN-IN-WITH-X': proof } });
    expect(entered).toMatchObject({ status: 200, body: 'in' });
  });

  test('has its cookies sent where credentials are allowed, and nowhere else', async () => {
    const serve = (credentials: boolean) =>
      fixture.serve((app) => {
        app.use(crossOrigin({ origins, credentials }));
        app.get('/me', (req, res) => void res.send(req.headers.cookie ?? 'nobody'));
      });
    const [open, shut] = await Promise.all([serve(true), serve(false)]);
    for (const url of [open, shut]) await shop.context().addCookies([{ name: 'session', value: 'mine', url }]);
    const init = { credentials: 'include', headers: { 'X-Mine': 'asks for a preflight' } } as const;

    expect(await askFromPage(shop, `${open}/me`, init)).toMatchObject({ status: 200, body: 'session=mine' });
    expect(await askFromPage(shop, `${shut}/me`, init)).toEqual({ refused: 'TypeError: Failed to fetch' });
    expect(await askFromPage(shop, `${shut}/me`)).toMatchObject({ status: 200, body: 'nobody' });
  });
});
