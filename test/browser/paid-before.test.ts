import type { RequestHandler } from 'express';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../src/storage/ledger/memory-ledger.js';
import { HAS_BROWSER, WHY_NOT } from '../helpers/browser/browser.js';
import { ESSAY, usePaywallStand } from '../helpers/browser/paywall-stand.js';

(HAS_BROWSER ? describe : describe.skip)(`a payment that a site has forgotten, in Chromium${WHY_NOT}`, () => {
  const stand = usePaywallStand();

  /** A site that lands a payment, loses the response, and comes back without its books. */
  async function serveForgetful(): Promise<string> {
    const { fixture, facilitatorWith, facilitator } = stand;
    const gateOn = (it: typeof facilitator) =>
      requirePayment({ facilitator: it, payTo: fixture.payTo, price: '$0.50' });
    let gate = gateOn(facilitator);
    const essay: RequestHandler = (_req, res) => void res.type('html').send(ESSAY);
    const url = await fixture.serve((app) => app.get('/essay', (req, res, next) => gate(req, res, next), essay));
    let isLost = false;
    await stand.page().route(`${url}/essay`, async (route) => {
      if (isLost || route.request().headers()['payment-signature'] === undefined) return route.continue();
      isLost = true;
      expect((await route.fetch()).status()).toBe(200);
      gate = gateOn(facilitatorWith({ ledger: createMemoryLedger() }));
      fixture.sandbox.expireBlockhashes();
      await route.abort();
    });
    return `${url}/essay`;
  }

  test('is named with its transaction, and its reader is told not to pay again', async () => {
    const wallet = await stand.wallet();
    await stand.page().goto(await serveForgetful());
    await stand.press('Pay 0.50 USDC with Test Wallet');
    await stand.says(/You have paid for this already.*Do not pay again.*: [1-9A-HJ-NP-Za-km-z]{80,90}$/);
    expect([stand.settled(), wallet.signed(), stand.faults]).toEqual([1, 1, []]);
    expect(await stand.page().locator('#action button', { hasText: /^Pay/ }).count()).toBe(0);
  });

  test.each([375, 1280])('is told so within %i pixels, by day and by night', async (width) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await stand.reader({ viewport: { width, height: 800 }, colorScheme });
      await stand.wallet();
      await page.goto(await serveForgetful());
      await stand.press('Pay 0.50 USDC with Test Wallet');
      await stand.says('Do not pay again');
      const { SCREENSHOTS } = process.env;
      if (SCREENSHOTS !== undefined)
        await page.screenshot({ path: `${SCREENSHOTS}/paid-before-${width}-${colorScheme}.png` });
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    }
  });
});
