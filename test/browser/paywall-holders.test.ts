import express from 'express';
import { anyOf } from '../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../src/middleware/wallet/require-token-balance.js';
import { HAS_BROWSER, WHY_NOT } from '../helpers/browser/browser.js';
import { ESSAY, usePaywallStand } from '../helpers/browser/paywall-stand.js';

const SIGN_IN = 'Sign in with Test Wallet';

(HAS_BROWSER ? describe : describe.skip)(`holders who sign in on the page, in Chromium${WHY_NOT}`, () => {
  const stand = usePaywallStand();

  /** `/club` for holders, `/essay` for holders or money, `/cheaper` with a price of their own. */
  function serve() {
    const { facilitator, fixture } = stand;
    const holders = { facilitator, mint: 'USDC', minBalance: 100 };
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.50' };
    return fixture.serve((app) => {
      const send: express.RequestHandler = (_req, res) => void res.type('html').send(ESSAY);
      app.get('/club', requireTokenBalance(holders), send);
      app.get('/essay', anyOf(requireTokenBalance(holders), requirePayment(sold)), send);
      const offers = [{ mint: 'USDC', minBalance: 100, price: '$0.01' }];
      app.get('/cheaper', requirePayment({ ...sold, holders: offers }), send);
      app.post('/say', express.urlencoded({ extended: true }), requireTokenBalance(holders), (req, res) => {
        res.send(`<p id="text">${req.body.text}</p>`);
      });
      app.get('/form', (_req, res) => {
        res.send('<form method="post" action="/say"><input name="text" value="well"><button>say it</button></form>');
      });
    });
  }

  test('come in by signing, stay signed in from page to page, and pay nothing', async () => {
    await stand.wallet();
    const url = await serve();
    const page = stand.page();
    expect((await page.goto(`${url}/essay`))?.status()).toBe(402);
    await stand.press(SIGN_IN);
    await stand.read();
    expect([page.url(), (await page.reload())?.status()]).toEqual([`${url}/essay`, 200]);
    expect((await page.goto(`${url}/club`))?.status()).toBe(200);
    const [cookie] = await stand.context().cookies();
    expect(cookie).toMatchObject({ name: 'access-wallet', httpOnly: true, sameSite: 'Lax', path: '/' });
    expect([stand.settled(), stand.faults]).toEqual([0, []]);
  });

  test('sign out by the page that tells them what they lack, and are strangers then', async () => {
    const keypair = await stand.fixture.sandbox.createWallet({ usdc: '3' });
    await stand.wallet({ keypair });
    const page = stand.page();
    await page.goto(`${await serve()}/club`);
    expect(await page.isVisible('#forget')).toBe(false);
    await stand.press(SIGN_IN);
    await page.waitForSelector('.problem');
    expect(await stand.context().cookies()).toHaveLength(1);
    await page.click('text=Sign out on this device');
    await page.waitForSelector('h1:has-text("This page is for members")');
    expect([await stand.context().cookies(), stand.faults]).toEqual([[], []]);
  });

  test('are told that they are signed in still where the site does not hear them sign out', async () => {
    const keypair = await stand.fixture.sandbox.createWallet({ usdc: '3' });
    await stand.wallet({ keypair });
    const page = stand.page();
    await page.goto(`${await serve()}/club`);
    await stand.press(SIGN_IN);
    await page.waitForSelector('.problem');
    await stand.context().setOffline(true);
    await stand.press('Sign out on this device');
    await stand.says('You are still signed in on this device');
    await stand.context().setOffline(false);
    await stand.press('Sign out on this device');
    await page.waitForSelector('h1:has-text("This page is for members")');
  });

  test('have their passes forgotten by a page of the same origin alone', async () => {
    await stand.wallet();
    const { facilitator, fixture } = stand;
    const pass = { for: '24h', cookie: true };
    const url = await fixture.serve((app) => {
      const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50', pass });
      app.get('/essay', gate, (_req, res) => void res.type('html').send(ESSAY));
    });
    const page = stand.page();
    await page.goto(`${url}/essay`);
    await stand.press('Pay 0.50 USDC with Test Wallet');
    await stand.read();
    const forget = () =>
      page.evaluate(`fetch('/essay', { headers: { 'Keep-Sign-In': 'forget' } }).then((it) => it.status)`);
    const cookie = (await stand.context().cookies()).map((it) => `${it.name}=${it.value}`).join('; ');
    for (const from of [{ origin: 'https://elsewhere.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const answer = await fetch(`${url}/essay`, { headers: { cookie, 'keep-sign-in': 'forget', ...from } });
      expect([answer.status, answer.headers.getSetCookie().filter((it) => it.includes('Max-Age=0'))]).toEqual([
        200,
        [],
      ]);
    }
    expect([await forget(), await stand.context().cookies()]).toEqual([204, []]);
    expect((await page.reload())?.status()).toBe(402);
  });

  test('send a form at a gate for holders alone, which is kept while they sign in', async () => {
    await stand.wallet();
    const page = stand.page();
    await page.goto(`${await serve()}/form`);
    await stand.press('say it');
    await stand.press(SIGN_IN);
    expect(await stand.read()).toBe('well');
  });

  test('are told how much is missing, and can pay instead, or take another wallet', async () => {
    const keypair = await stand.fixture.sandbox.createWallet({ usdc: '3' });
    await stand.wallet({ keypair });
    const rich = await stand.wallet({ name: 'Other Wallet' });
    const url = await serve();
    const page = stand.page();
    expect((await page.goto(`${url}/club`))?.status()).toBe(401);
    await stand.press(SIGN_IN);
    await page.waitForSelector('text=has 3 USDC. It takes 100 USDC.');
    expect(await page.textContent('h1')).toBe('This wallet is not enough');
    await page.goto(`${url}/essay`);
    await page.waitForSelector('text=has 3 USDC. It takes 100 USDC.');
    await stand.press('Pay 0.50 USDC with Test Wallet');
    await stand.read();
    await page.goto(`${url}/club`);
    await stand.press('Sign in with Other Wallet');
    await stand.read();
    expect([stand.settled(), rich.signed()]).toEqual([1, 0]);
  });

  test('see the price that is theirs, and pay that', async () => {
    await stand.wallet();
    const url = await serve();
    await stand.page().goto(`${url}/cheaper`);
    await stand.page().waitForSelector('text=Pay 0.50 USDC with Test Wallet');
    await stand.press(SIGN_IN);
    await stand.press('Pay 0.01 USDC with Test Wallet');
    await stand.read();
    expect(stand.settled()).toBe(1);
  });

  test('are not taken for signed in where a page of another site has sent the form', async () => {
    await stand.wallet();
    const url = await serve();
    const page = stand.page();
    await page.goto(`${url}/club`);
    await stand.press(SIGN_IN);
    await stand.read();
    const elsewhere = await stand.fixture.serve((app) => {
      app.get('/', (_req, res) => {
        res.send(`<form method="post" action="${url}/say"><input name="text" value="x"><button>say it</button></form>`);
      });
    });
    await page.goto(elsewhere.replace('127.0.0.1', 'localhost'));
    const [answer] = await Promise.all([page.waitForNavigation(), stand.press('say it')]);
    expect(answer?.status()).toBe(401);
  });
});
