import express, { type Express } from 'express';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { askFromPage, fetchOfPage, HAS_BROWSER, openBrowser, WHY_NOT } from '../helpers/browser/browser.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { type AppServer, serveApp } from '../helpers/http/app-server.js';
import { payingFetch } from '../helpers/http/official-clients.js';
import { selfSigned } from '../helpers/http/self-signed.js';

const DAY_MS = 86_400_000;
const PIXEL = Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64');
const ESSAY = `<!doctype html><title>an essay</title><img src="/cover.gif"><a href="/letter">the letter</a>
  <form method="post" action="/comment"><button>say it</button></form>`;

/** What a page of another origin may try with pages of a shop. */
const intruderPage = (shop: string) => `<!doctype html><title>elsewhere</title><img src="${shop}/cover.gif">
  <a href="${shop}/letter">a letter over there</a><form method="post" action="${shop}/comment"><button>say it</button></form>`;

/** A request that has reached the shop, whoever has paid for it. */
interface Seen {
  readonly asked: string;
  readonly cookie: string | undefined;
}

(HAS_BROWSER ? describe : describe.skip).each([
  ['http', undefined],
  ['https', selfSigned()],
])(`a browser that has bought a day, in Chromium over %s${WHY_NOT}`, (scheme, tls) => {
  /** Goes on by itself, as what the 402 names of the chain does. */
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const servers: AppServer[] = [];
  let fixture: TollFixture;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let shop: string;
  /** Another port of the same host, which its cookies reach too, and another host. */
  let neighbour: string;
  let stranger: string;
  let seen: Seen[] = [];
  let settled = 0;

  async function serve(configure: (app: Express) => void): Promise<string> {
    const server = await serveApp(configure, express, tls);
    servers.push(server);
    return server.url;
  }
  const localhost = (url: string) => url.replace('127.0.0.1', 'localhost');

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 3_000 });
    browser = await openBrowser();
    const storage = await openStorage('memory:', { now });
    const facilitator = fixture.facilitatorWith({ storage, now });
    facilitator.on('payment.settled', () => {
      settled += 1;
    });
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.50' };
    const magazine = requirePayment({ ...sold, pass: { for: '24h', group: 'magazine', cookie: true } });
    shop = localhost(
      await serve((app) => {
        app.use(({ method, path, headers: { cookie } }, _res, next) => {
          seen.push({ asked: `${method} ${path}`, cookie });
          next();
        });
        app.get('/', (_req, res) => void res.type('html').send('<!doctype html><title>a shop</title>'));
        app.get('/essay', magazine, (_req, res) => void res.type('html').send(ESSAY));
        app.get('/letter', magazine, (_req, res) => void res.send('a letter'));
        app.get('/cover.gif', magazine, (_req, res) => void res.type('gif').send(PIXEL));
        app.post('/comment', magazine, (_req, res) => void res.send('it is said'));
        const day = requirePayment({ ...sold, pass: { for: '24h', cookie: true } });
        app.get('/report/:id', day, (req, res) => void res.send(`report ${req.params['id']}`));
      }),
    );
    const intruder = () => serve((app) => app.get('/', (_req, res) => void res.type('html').send(intruderPage(shop))));
    [neighbour, stranger] = [localhost(await intruder()), await intruder()];
  });
  afterAll(async () => {
    await browser.close();
    for (const { close } of servers) await close();
    await fixture.close();
  });
  beforeEach(async () => {
    context = await browser.newContext({ ignoreHTTPSErrors: true });
    page = await context.newPage();
    await page.goto(shop);
    [seen, settled] = [[], 0];
  });
  afterEach(() => context.close());

  /** A script of the shop's page pays, with the official client. */
  async function buy(path: string): Promise<void> {
    const { payer, sandbox } = fixture;
    const pay = await payingFetch({ wallet: payer, rpcUrl: sandbox.rpcUrl }, fetchOfPage(page));
    const answer = await pay(`${shop}${path}`);
    expect([answer.status, answer.headers.get('access-pass-remaining')]).toEqual([200, expect.stringMatching(/^\d+$/)]);
  }
  const open = async (url: string) => (await page.goto(url))?.status();
  const reload = async () => (await page.reload())?.status();
  /** Clicks, and answers what page that leads to. */
  async function click(selector: string) {
    const [answer] = await Promise.all([page.waitForNavigation(), page.click(selector)]);
    return { status: answer?.status(), url: page.url() };
  }
  const isShown = () =>
    page.$eval('img', async (image) => {
      await image.decode().catch(() => undefined);
      return image.naturalWidth > 0;
    });

  test('reloads within its day without paying, and no script sees why', async () => {
    expect([await open(`${shop}/essay`), await open(shop)]).toEqual([402, 200]);
    await buy('/essay');
    expect([await open(`${shop}/essay`), await reload(), await reload(), settled]).toEqual([200, 200, 200, 1]);
    aheadMs += DAY_MS - 60_000;
    expect([await reload(), settled]).toEqual([200, 1]);
    expect(await page.evaluate('document.cookie')).toBe('');
    const prefix = scheme === 'https' ? '__Host-' : '';
    expect(await context.cookies()).toEqual([
      expect.objectContaining({
        ...{ name: expect.stringMatching(new RegExp(`^${prefix}access-pass-[\\da-f]{16}$`)), domain: 'localhost' },
        ...{ path: '/', httpOnly: true, secure: scheme === 'https', sameSite: 'Lax' },
      }),
    ]);
  });

  test('has links, images and forms of the same site covered', async () => {
    await buy('/essay');
    await open(`${shop}/essay`);
    expect(await isShown()).toBe(true);
    expect(await click('button')).toEqual({ status: 200, url: `${shop}/comment` });
    await open(`${shop}/essay`);
    expect(await click('a')).toEqual({ status: 200, url: `${shop}/letter` });
    expect(settled).toBe(1);
  });

  test('has a pass of one route sent there alone', async () => {
    await buy('/report/1');
    expect([await open(`${shop}/report/2`), await open(`${shop}/letter`)]).toEqual([200, 402]);
    const [cookie] = await context.cookies(`${shop}/report/2`);
    expect(cookie).toMatchObject({ path: '/report', httpOnly: true, secure: scheme === 'https' });
    expect(cookie?.name.startsWith('__Secure-')).toBe(scheme === 'https');
    expect(seen.filter(({ asked }) => asked === 'GET /letter')).toEqual([{ asked: 'GET /letter', cookie: undefined }]);
  });

  test('has nothing covered of the form or the image of another site, but a link that is followed from there', async () => {
    await buy('/essay');
    await open(stranger);
    expect(await isShown()).toBe(false);
    expect(await click('button')).toEqual({ status: 402, url: `${shop}/comment` });
    expect(seen).toContainEqual({ asked: 'POST /comment', cookie: undefined });
    await open(stranger);
    expect(await click('a')).toEqual({ status: 200, url: `${shop}/letter` });
    expect(settled).toBe(1);
  });

  test('has no form of another port of the host covered, though its cookie comes with it', async () => {
    await buy('/essay');
    await open(neighbour);
    expect(await click('button')).toEqual({ status: 402, url: `${shop}/comment` });
    expect(seen).toContainEqual({ asked: 'POST /comment', cookie: expect.stringContaining('access-pass-') });
    expect(await context.cookies()).toHaveLength(1);
  });

  test('cannot have its pass taken by a script of another site', async () => {
    await buy('/essay');
    await open(stranger);
    expect(await askFromPage(page, `${shop}/letter`, { credentials: 'include' })).toEqual({
      refused: 'TypeError: Failed to fetch',
    });
    expect(seen).toContainEqual({ asked: 'GET /letter', cookie: undefined });
  });

  test('is asked to pay again after its day, and can', async () => {
    await buy('/essay');
    expect(await open(`${shop}/essay`)).toBe(200);
    aheadMs += DAY_MS;
    expect([await reload(), await context.cookies()]).toEqual([402, []]);
    expect([await page.title(), await reload()]).toEqual(['Payment required', 402]);
    await open(shop);
    await buy('/essay');
    expect([await open(`${shop}/essay`), await reload(), settled]).toEqual([200, 200, 2]);
  });
});
