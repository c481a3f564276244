import type { Browser, Page } from 'playwright-core';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { HAS_BROWSER, openBrowser, WHY_NOT } from '../helpers/browser/browser.js';
import { installWallet } from '../helpers/browser/test-wallet.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../helpers/transactions/payments.js';
import { type BenchPart, quantile } from './figure.js';

/** As on the cluster: the chain's own time is what it is there. */
const SLOT_MS = 400;
const CONTENT = '<!doctype html><title>an essay</title><p id="text">what was paid for</p>';
const PAY = 'text=Pay 0.50 USDC with Test Wallet';
const median = (values: readonly number[]) => quantile(values, 0.5);

/** What a reader waits for: the page of a price beside a bare one, and what was bought beside a program's paid request. */
export const firstPaintBench: BenchPart = {
  name: 'first-paint',
  async run({ quick, progress }) {
    if (!HAS_BROWSER) {
      progress(`nothing is measured${WHY_NOT}`);
      return [];
    }
    const fixture = await openTollFixture({ slotMs: SLOT_MS });
    const browser = await openBrowser();
    try {
      const url = await serve(fixture);
      const laps = { bare: [] as number[], paywall: [] as number[], program: [] as number[], reader: [] as number[] };
      const rounds = quick ? 5 : 15;
      // The first of all warms up the browser, the server and the chain.
      for (let round = 0; round <= rounds; round += 1) {
        const lap = await runLap(fixture, browser, url);
        if (round === 0) continue;
        progress(`round ${round}`);
        for (const name of ['bare', 'paywall', 'program', 'reader'] as const) laps[name].push(lap[name]);
      }
      const { bare, paywall, program, reader } = laps;
      return [
        { name: 'first paint of a paywall page, of a bare one', value: median(paywall) / median(bare), unit: '×' },
        { name: 'from click to paid content, of a paid request', value: median(reader) / median(program), unit: '×' },
        { name: 'first paint of a paywall page', value: median(paywall), unit: 'ms' },
        { name: 'from click to paid content', value: median(reader), unit: 'ms' },
        { name: "a program's paid request, most of it the chain's time", value: median(program), unit: 'ms' },
      ];
    } finally {
      await browser.close();
      await fixture.close();
    }
  },
};

function serve({ facilitator, payTo, serve }: TollFixture): Promise<string> {
  return serve((app) => {
    app.get('/bare', (_req, res) => void res.type('html').send(CONTENT));
    app.get('/essay', requirePayment({ facilitator, payTo, price: '$0.50' }), (_req, res) => {
      res.type('html').send(CONTENT);
    });
  });
}

/** One of each, in milliseconds, by a reader whose browser has seen nothing of the site. */
async function runLap(fixture: TollFixture, browser: Browser, url: string) {
  const context = await browser.newContext();
  await installWallet(context, { keypair: fixture.payer });
  const page = await context.newPage();
  const bare = await paintOf(page, `${url}/bare`);
  const { v2 } = await signPayment(fixture, `${url}/essay`);
  const program = await timeOf(() => fetch(`${url}/essay`, { headers: v2 }));
  const paywall = await paintOf(page, `${url}/essay`);
  await page.waitForSelector(PAY);
  const reader = await timeOf(async () => {
    await page.click(PAY);
    await page.waitForSelector('#text');
  });
  await context.close();
  return { bare, paywall, program, reader };
}

/** From the beginning of the navigation to the first paint. */
async function paintOf(page: Page, address: string): Promise<number> {
  await page.goto(address);
  const painted = "performance.getEntriesByName('first-paint')[0]?.startTime";
  // The policy of the page lets nobody make functions of texts in it, as Playwright's own waiting does.
  for (;;) {
    const at = await page.evaluate<number | undefined>(painted);
    if (at !== undefined) return at;
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
