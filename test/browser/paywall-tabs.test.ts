import { EventEmitter, once } from 'node:events';
import type { Page } from 'playwright-core';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { HAS_BROWSER, WHY_NOT } from '../helpers/browser/browser.js';
import { ESSAY, usePaywallStand } from '../helpers/browser/paywall-stand.js';

const PAY = 'text=Pay 0.50 USDC with Test Wallet';
const WAITS = '#status:has-text("Another tab is paying")';

(HAS_BROWSER ? describe : describe.skip)(`two tabs of one browser, in Chromium${WHY_NOT}`, () => {
  const stand = usePaywallStand();

  /** Serves two pages, and opens each in a tab; the wallet signs when it is told to. */
  async function openTabs(paths: readonly [string, string], more: object) {
    const owner = new EventEmitter();
    const asked = once(owner, 'asked');
    const signs = once(owner, 'sign');
    signs.catch(() => undefined);
    const wallet = await stand.wallet({
      onSign() {
        owner.emit('asked');
        return signs;
      },
    });
    const { facilitator, fixture } = stand;
    const url = await fixture.serve((app) => {
      const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50', ...more });
      app.get(['/one', '/two'], gate, (_req, res) => void res.type('html').send(ESSAY));
    });
    const first = stand.page();
    const second = await stand.context().newPage();
    await first.goto(url + paths[0]);
    await second.goto(url + paths[1]);
    const decline = () => owner.emit('error', new Error('declined'));
    return { first, second, wallet, asked, sign: () => owner.emit('sign'), decline };
  }

  const read = (page: Page) => page.waitForSelector('#text');

  test.each([
    ['of one page', ['/one', '/one'], { pass: { for: '24h', cookie: true } }],
    ['of one page with two queries', ['/one?a=1', '/one?a=2'], { pass: { uses: 9, cookie: true } }],
    ['of two pages of a group', ['/one', '/two'], { pass: { for: '24h', group: 'all', cookie: true } }],
    ['with the money first', ['/one', '/one'], { pass: { for: '24h', cookie: true }, settle: 'before' }],
  ] as const)('sign one payment for a pass that covers both: %s', async (_what, paths, more) => {
    const { first, second, wallet, asked, sign } = await openTabs(paths, more);
    await first.click(PAY);
    await asked;
    await second.click(PAY);
    await second.waitForSelector(WAITS);
    sign();
    await Promise.all([read(first), read(second)]);
    expect([wallet.signed(), stand.settled(), stand.faults]).toEqual([1, 1, []]);
  });

  describe('that meet a payment of the other one, which came with them by chance,', () => {
    async function payInOne() {
      const tabs = await openTabs(['/one?a=1', '/one?a=2'], { pass: { uses: 9, cookie: true } });
      await tabs.first.click(PAY);
      await tabs.asked;
      tabs.sign();
      await read(tabs.first);
      const saved = String(await tabs.first.evaluate('Object.values(sessionStorage)[0]'));
      const { hostname: domain } = new URL(tabs.first.url());
      return { ...tabs, cookie: { name: 'payment-signature', value: JSON.parse(saved).header, domain } };
    }

    test('ask again without it, and are let in', async () => {
      const { second, wallet, cookie } = await payInOne();
      await stand.context().addCookies([{ ...cookie, path: '/one' }]);
      await second.evaluate('location.reload()');
      await read(second);
      expect([wallet.signed(), stand.settled(), stand.faults]).toEqual([1, 1, []]);
    });

    test('ask again once where it cannot be taken back, and say what it is then', async () => {
      const { second, cookie } = await payInOne();
      await stand.context().addCookies([{ ...cookie, path: '/', httpOnly: true }]);
      await second.evaluate('location.reload()');
      await second.waitForSelector('body:has(.problem:has-text("has been used before")) #action button');
    });
  });

  test('sign no second payment for a single request without asking, and each can pay for its own', async () => {
    const { first, second, wallet, asked, sign } = await openTabs(['/one', '/one'], {});
    await first.click(PAY);
    await asked;
    await second.click(PAY);
    await second.waitForSelector(WAITS);
    sign();
    await read(first);
    await second.waitForSelector('#status:has-text("The other tab is done")');
    expect(wallet.signed()).toBe(1);
    await second.click('text=Try again');
    await read(second);
    expect([wallet.signed(), stand.settled()]).toEqual([2, 2]);
  });

  test('do not wait for one that was declined, or closed', async () => {
    const { first, second, wallet, asked, decline } = await openTabs(['/one', '/one'], {});
    await first.click(PAY);
    await asked;
    await second.click(PAY);
    await second.waitForSelector(WAITS);
    await first.close();
    await second.waitForSelector('#status:has-text("The other tab is done")');
    decline();
    await second.click('text=Try again');
    await second.waitForSelector('#status:has-text("did not sign")');
    expect([wallet.signed(), stand.settled()]).toEqual([0, 0]);
  });

  test('pay at once where the browser has no locks', async () => {
    await stand.context().addInitScript("Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })");
    const { first, second, wallet, asked, sign } = await openTabs(['/one', '/two'], { pass: { uses: 3 } });
    await first.click(PAY);
    await asked;
    sign();
    await read(first);
    await second.click(PAY);
    await read(second);
    expect([wallet.signed(), stand.settled()]).toEqual([2, 2]);
  });
});
