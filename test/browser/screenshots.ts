import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { paywallScript } from '../../src/middleware/browser/paywall-script.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openBrowser } from '../helpers/browser/browser.js';
import { installWallet } from '../helpers/browser/test-wallet.js';
import { openTollFixture } from '../helpers/fixtures/toll-fixture.js';

/** Pictures of the pages, by day and by night, on a desk and on a phone: `unrun test/browser/screenshots.ts FOLDER`. */
const [folder = 'screenshots'] = process.argv.slice(2);
const PHONE = { viewport: { width: 390, height: 800 }, isMobile: true, userAgent: 'Mozilla/5.0 (iPhone) Mobile' };
const PLACES = [
  ['desk', { viewport: { width: 1100, height: 800 } }],
  ['phone', PHONE],
] as const;

/** A page of a site, in its own letters and colours. */
const siteWith = (path: string) => `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<style>:root { color-scheme: light dark; } body { font: 1.1rem/1.6 Georgia, serif; max-width: 38rem; margin: 2rem auto; padding: 0 1rem; }</style>
<script type="module" src="/tollhouse.js"></script><h1>The long way home</h1>
<tollhouse-paywall src="/${path}"><p>The last train had left, and so we walked. It was a night without a moon, and none of us had a lamp.</p></tollhouse-paywall>
<p>What else is on the page.</p>`;

const fixture = await openTollFixture();
const browser = await openBrowser();
const { facilitator, payTo } = fixture;
const url = await fixture.serve((app) => {
  const sold = { facilitator, payTo, description: 'The long way home: an essay in five parts' };
  const brand = {
    name: 'The Magazine',
    logo: '/logo.svg',
    colours: { light: { accent: '#0a6b4f' }, dark: { accent: '#7fe0bd' } },
  };
  app.get('/logo.svg', (_req, res) => {
    res
      .type('svg')
      .send(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#0a6b4f"/></svg>',
      );
  });
  app.get('/tollhouse.js', paywallScript());
  for (const path of ['plain', 'offers']) app.get(`/in-a-site-${path}`, (_req, res) => void res.send(siteWith(path)));
  app.get('/plain', requirePayment({ ...sold, price: '$0.50' }));
  app.get(
    '/offers',
    requirePayment({
      ...sold,
      price: ['$0.10', { price: '$0.50', pass: { for: '24h', cookie: true } }, { price: '$4', pass: { uses: 100 } }],
      page: brand,
    }),
  );
});
mkdirSync(folder, { recursive: true });
for (const [place, options] of PLACES) {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const hasWallet of [true, false]) {
      const context = await browser.newContext({ ...options, colorScheme });
      if (hasWallet) await installWallet(context, { keypair: fixture.payer });
      const page = await context.newPage();
      for (const path of ['plain', 'offers', 'in-a-site-plain', 'in-a-site-offers']) {
        await page.goto(`${url}/${path}`);
        await page.locator('#action > *').first().waitFor();
        const name = [path, place, colorScheme, hasWallet ? 'wallet' : 'none'].join('-');
        await page.screenshot({ path: join(folder, `${name}.png`) });
      }
      await context.close();
    }
  }
}
await browser.close();
await fixture.close();
