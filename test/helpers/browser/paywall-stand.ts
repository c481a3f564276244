import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { FacilitatorOptions } from '../../../src/facilitator/facilitator-options.js';
import { openTollFixture, QUICK, type TollFixture } from '../fixtures/toll-fixture.js';
import { openBrowser } from './browser.js';
import { installWallet, type TestWallet, type TestWalletOptions } from './test-wallet.js';

/** What was bought in these tests: it runs a script, so that it shows that no policy of ours is left. */
export const ESSAY =
  '<!doctype html><title>an essay</title><p id="text">what was paid for</p><script>window.ran = true</script>';

/** A chain, a facilitator that gives out fresh blockhashes, and a browser with one page of a reader. */
export interface PaywallStand {
  readonly fixture: TollFixture;
  readonly facilitator: TollFixture['facilitator'];
  readonly page: () => Page;
  readonly context: () => BrowserContext;
  /** How many payments have landed since the test began. */
  readonly settled: () => number;
  /** What the browser's console called an error, but for refused requests. */
  readonly faults: readonly string[];
  facilitatorWith(options: Partial<FacilitatorOptions>): TollFixture['facilitator'];
  /** Opens another page, of a reader with another browser. */
  reader(options?: BrowserContextOptions): Promise<Page>;
  /** Gives the reader a wallet: the one of a payer who has 1,000 of every token, unless it is said. */
  wallet(options?: Partial<TestWalletOptions>): Promise<TestWallet>;
  /** What the page says of how things stand. */
  says(text: string | RegExp): Promise<void>;
  /** Waits for what was bought, and answers its text. */
  read(): Promise<string | null>;
  /** Presses what has this text: what is said of it may have it too. */
  press(text: string): Promise<void>;
}

/** Opens the stand before the tests of a file, and a reader's browser before each of them. */
export function usePaywallStand(): PaywallStand {
  let fixture: TollFixture;
  let facilitator: TollFixture['facilitator'];
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let settled = 0;
  const faults: string[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 3_000 });
    facilitator = facilitatorWith({});
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await fixture.close();
  });
  beforeEach(async () => {
    await reader();
    [settled, faults.length] = [0, 0];
  });
  afterEach(() => context.close());

  function facilitatorWith(options: Partial<FacilitatorOptions>) {
    const made = fixture.facilitatorWith(options, QUICK);
    made.on('payment.settled', () => {
      settled += 1;
    });
    return made;
  }

  async function reader(options: BrowserContextOptions = {}): Promise<Page> {
    await context?.close();
    context = await browser.newContext(options);
    page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(String(error)));
    return page;
  }

  return {
    get fixture() {
      return fixture;
    },
    get facilitator() {
      return facilitator;
    },
    page: () => page,
    context: () => context,
    settled: () => settled,
    faults,
    facilitatorWith,
    reader,
    wallet: (options = {}) => installWallet(context, { keypair: fixture.payer, ...options }),
    async says(text) {
      await page.locator('#status').filter({ hasText: text }).waitFor();
    },
    async read() {
      const status = () => page.textContent('#status', { timeout: 1_000 }).catch(() => 'no page of ours');
      await page.waitForSelector('#text').catch(async (error) => {
        throw new Error(`the page says: ${await status()}\n${faults.join('\n')}\n${error}`);
      });
      return page.textContent('#text');
    },
    press: (text) => page.locator('a, button, summary, label', { hasText: text }).first().click(),
  };
}
