import type express from 'express';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { HAS_BROWSER, WHY_NOT } from '../helpers/browser/browser.js';
import { usePaywallStand } from '../helpers/browser/paywall-stand.js';

const PAY = 'Pay 0.50 USDC with Test Wallet';
const NO_COOKIES = "Object.defineProperty(Document.prototype, 'cookie', { get: () => '', set() {} });";
const INTERVAL_MS = 100;

/** A page that goes on for as long as somebody reads it. */
const live: express.RequestHandler = (_req, res) => {
  res.type('html').write(`<!doctype html><p id="text">it begins</p>${' '.repeat(2_000)}`);
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    res.write(`<i>tick ${ticks}</i>`);
  }, INTERVAL_MS);
  res.on('close', () => clearInterval(timer));
};

(HAS_BROWSER ? describe : describe.skip)(`an answer that goes on, bought in Chromium${WHY_NOT}`, () => {
  const stand = usePaywallStand();

  async function open(handler: express.RequestHandler = live) {
    const { facilitator, fixture } = stand;
    const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50', settle: 'before' });
    const url = await fixture.serve((app) => app.get('/live', gate, handler));
    await stand.page().goto(`${url}/live`);
  }

  test('is shown as it comes by a browser without cookies, and paid once', async () => {
    await stand.context().addInitScript(NO_COOKIES);
    const wallet = await stand.wallet();
    await open();
    await stand.press(PAY);
    await stand.says('Paid. Here it is:');
    const page = stand.page();
    await page.waitForSelector('pre:has-text("it begins")');
    await page.waitForSelector('pre:has-text("tick 50")');
    const [download] = await Promise.all([page.waitForEvent('download'), stand.press('Save')]);
    expect([download.suggestedFilename(), wallet.signed(), stand.settled(), stand.faults]).toEqual([
      'live.html',
      1,
      1,
      [],
    ]);
  });

  test('is gone to by the browser itself where the line was away as its reader signed', async () => {
    const wallet = await stand.wallet({ onSign: () => stand.context().setOffline(true) });
    await open();
    await stand.press(PAY);
    const page = stand.page();
    await page.waitForSelector('#action', { state: 'detached' });
    // As a reader does who comes back later than the payment's cookie lives.
    await stand.context().clearCookies();
    await stand.context().setOffline(false);
    await page.reload({ waitUntil: 'commit' }).catch(() => undefined);
    expect(await stand.read()).toBe('it begins');
    await page.waitForSelector('i:has-text("tick 5")');
    expect([wallet.signed(), stand.settled()]).toEqual([1, 1]);
  });

  test('stands as any other once it has ended', async () => {
    await stand.context().addInitScript(NO_COOKIES);
    await stand.wallet();
    await open((_req, res) => {
      res.type('text').write('a long ');
      setTimeout(() => res.end('story'), 5_000);
    });
    await stand.press(PAY);
    const page = stand.page();
    await page.waitForSelector('pre:has-text("a long story")');
    await page.waitForSelector('a[download=live]');
    expect([stand.settled(), stand.faults]).toEqual([1, []]);
  });

  test('that is a file, or nothing to show, is told of beside it, and is known after a reload', async () => {
    const wallet = await stand.wallet();
    await open((_req, res) => res.attachment('song.txt').send('la la'));
    const page = stand.page();
    await Promise.all([page.waitForEvent('download'), stand.press(PAY)]);
    await stand.says('Paid, and done.');
    await Promise.all([page.waitForEvent('download'), page.reload({ waitUntil: 'commit' })]);
    await stand.says('You have paid for this.');
    await open((_req, res) => res.status(204).end());
    await stand.press(PAY);
    await stand.says('Paid, and done.');
    expect([wallet.signed(), stand.settled(), stand.faults]).toEqual([2, 2, []]);
  });

  test('that is a file too large to be kept is said to be paid for and gone by whoever comes back at once', async () => {
    const wallet = await stand.wallet();
    await open((_req, res) => res.attachment('film.bin').send(Buffer.alloc(3_000_000)));
    const page = stand.page();
    await Promise.all([page.waitForEvent('download'), stand.press(PAY)]);
    await page.reload({ waitUntil: 'commit' });
    await stand.says('You have paid for this before');
    expect([wallet.signed(), stand.settled()]).toEqual([1, 1]);
  });
});
