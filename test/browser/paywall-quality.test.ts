import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { paywallScript } from '../../src/middleware/browser/paywall-script.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../src/middleware/wallet/require-token-balance.js';
import { HAS_BROWSER, WHY_NOT } from '../helpers/browser/browser.js';
import { usePaywallStand } from '../helpers/browser/paywall-stand.js';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const LANGUAGES = ['en', 'de', 'es', 'fr', 'zh', 'ja'];
const HOSTILE = '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 2">\u2028<!--<script>';
const MAX_COMPRESSED = 15_000;
/** Of the page and of the script for pages of a site, together. */
const MAX_IN_ALL = 25_000;

/** Words of headings, prices, facts and buttons that a line ends within. */
const tornWords = (page: Page) =>
  page.evaluate<readonly string[]>(`[...document.querySelectorAll('h1, .price, dt, dd, button')].flatMap((place) => {
    const text = [...place.childNodes].find((it) => it.nodeType === Node.TEXT_NODE);
    return [...text.data.matchAll(/[^\\s-]+/g)].flatMap(({ 0: word, index }) => {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      return range.getClientRects().length > 1 ? [word] : [];
    });
  })`);

(HAS_BROWSER ? describe : describe.skip)(`the paywall page to its reader, in Chromium${WHY_NOT}`, () => {
  const stand = usePaywallStand();

  function serve(description = 'An essay') {
    const { facilitator, fixture } = stand;
    const sold = { facilitator, payTo: fixture.payTo, description };
    return fixture.serve((app) => {
      app.get('/essay', requirePayment({ ...sold, price: '$0.50' }));
      app.get('/offers', requirePayment({ ...sold, price: ['$0.10', { price: '$0.50', pass: { for: '24h' } }] }));
      app.get('/club', requireTokenBalance({ facilitator, mint: 'USDC', minBalance: 5 }));
      app.all('/post/:id', requirePayment({ ...sold, price: '$0.50', page: { name: description.slice(0, 100) } }));
      app.get('/tollhouse.js', paywallScript());
      app.get('/site', (_req, res) => {
        const style = '<style>:root { color-scheme: light dark; background: Canvas; color: CanvasText; }</style>';
        const paywalls = ['essay', 'offers', 'club'].map(
          (path) => `<tollhouse-paywall src="/${path}">a preview</tollhouse-paywall>`,
        );
        const script = '<script type="module" src="/tollhouse.js"></script>';
        res.send(
          `<!doctype html><html lang="en"><title>a site</title>${style}${script}<main><h1>a site</h1>${paywalls.join('')}</main>`,
        );
      });
      app.get('/form', (req, res) => {
        res.send(
          `<form method="post" action="/post/1"><input name="x"><button>send</button></form>${req.query['q'] ?? ''}`,
        );
      });
    });
  }

  test('reads an Arabic description from the right, with its end at the left', async () => {
    const url = await serve('مقال عن الطقس.');
    const page = stand.page();
    await page.goto(`${url}/essay`);
    const glyph = (at: number) =>
      page.evaluate<number>(`(() => {
        const text = document.querySelector('h1').firstChild;
        const range = document.createRange();
        range.setStart(text, ${at});
        range.setEnd(text, ${at + 1});
        return range.getBoundingClientRect().x;
      })()`);
    expect(await glyph(13)).toBeLessThan(await glyph(0));
  });

  test.each(['light', 'dark'] as const)('breaks no rule of axe, by %s', async (colorScheme) => {
    const page = await stand.reader({ colorScheme });
    const url = await serve();
    for (const hasWallet of [false, true]) {
      if (hasWallet) await stand.wallet();
      for (const path of ['essay', 'offers', 'club', 'site']) {
        await page.goto(`${url}/${path}`);
        for (const place of await page.locator('main, tollhouse-paywall').all())
          await place.locator('#action > *').first().waitFor();
        // What a test brings in is not held back by the policy of the page.
        const { violations } = await page.evaluate<{ violations: readonly object[] }>(`${AXE}; axe.run(document)`);
        expect(violations).toEqual([]);
      }
    }
    expect(stand.faults).toEqual([]);
  });

  test.each([160, 195])('is read %i px wide, as a phone is at twice its size: nothing is torn', async (width) => {
    const page = await stand.reader({ locale: 'de', viewport: { width, height: 400 } });
    await stand.wallet();
    const url = await serve();
    for (const path of ['essay', 'offers', 'club']) {
      await page.goto(`${url}/${path}`);
      await page.waitForSelector('text=/mit Test Wallet/i');
      expect([await tornWords(page), await page.evaluate('document.documentElement.scrollWidth')]).toEqual([[], width]);
    }
  });

  test('keeps to the width of a phone with the line for a terminal, however long the address is', async () => {
    const page = await stand.reader({ viewport: { width: 390, height: 800 } });
    await page.goto(`${await serve()}/essay?part=${'x'.repeat(80)}`);
    await stand.press('Pay with a program');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  test('says how things stand before what can be done about it', async () => {
    const page = stand.page();
    const url = await serve();
    for (const path of ['essay', 'site']) {
      await page.goto(`${url}/${path}`);
      const [said, done] = ['text=There is no Solana wallet', 'text=Get Phantom'].map((it) => page.locator(it).first());
      expect((await said?.boundingBox())?.y).toBeLessThan((await done?.boundingBox())?.y ?? 0);
    }
  });

  test.each(LANGUAGES)('speaks %s where its reader does', async (locale) => {
    const page = await stand.reader({ locale });
    await page.goto(`${await serve()}/essay`);
    expect(await page.getAttribute('html', 'lang')).toBe(locale);
    expect(await page.title()).not.toBe('');
  });

  test('lets nothing run that a description, a name, a path, a query or a form brings', async () => {
    await stand.wallet();
    const url = await serve(HOSTILE);
    const page = stand.page();
    for (const path of ['essay', 'offers', `post/${encodeURIComponent(HOSTILE)}?q=${encodeURIComponent(HOSTILE)}`]) {
      await page.goto(`${url}/${path}`);
      await page.waitForSelector('text=with Test Wallet');
      expect(await page.evaluate('window.hacked')).toBeUndefined();
    }
    await page.goto(`${url}/form`);
    await page.fill('input', HOSTILE);
    await page.click('button');
    await page.waitForSelector('text=with Test Wallet');
    expect([await page.evaluate('window.hacked'), stand.faults]).toEqual([undefined, []]);
  });

  test('lets no script that was put in run, by its policy', async () => {
    const page = stand.page();
    await page.goto(`${await serve()}/essay`);
    const tried = await page.evaluate(`(() => {
      try { document.body.innerHTML = '<img src=x onerror="window.hacked = 1">'; return 'done'; }
      catch (error) { return error.name; }
    })()`);
    expect(tried).toBe('TypeError');
    await page.evaluate(`document.body.append(Object.assign(document.createElement('p'), { id: 'there' }))`);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
  });

  test('is small, whole in one answer, and asks nobody else for anything', async () => {
    const page = stand.page();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const url = await serve();
    const answer = await page.goto(`${url}/offers`);
    await page.waitForSelector('#action > *');
    expect(asked.filter((it) => !it.endsWith('/favicon.ico'))).toEqual([`${url}/offers`]);
    expect(gzipSync((await answer?.body()) ?? '').length).toBeLessThan(MAX_COMPRESSED);
  });

  test('is small with the script for pages of a site as well, which is asked for again by its ETag', async () => {
    const url = await serve();
    const [page, script] = await Promise.all(
      [`${url}/offers`, `${url}/tollhouse.js`].map((it) => fetch(it, { headers: { Accept: 'text/html' } })),
    );
    const bytes = await Promise.all([page, script].map(async (it) => it?.text() ?? ''));
    expect(bytes.reduce((sum, it) => sum + gzipSync(it).length, 0)).toBeLessThan(MAX_IN_ALL);
    const etag = script?.headers.get('ETag') ?? '';
    const headers = { 'If-None-Match': etag, 'Cache-Control': 'max-age=0' };
    const again = await fetch(`${url}/tollhouse.js`, { headers });
    expect([etag, again.status]).toEqual([expect.stringContaining('"'), 304]);
    expect((await fetch(`${url}/tollhouse.js`, { method: 'POST' })).status).toBe(404);
  });

  test('tells the terms, and how else to pay, without JavaScript', async () => {
    const page = await stand.reader({ javaScriptEnabled: false });
    await page.goto(`${await serve()}/offers`);
    const text = await page.textContent('main');
    for (const part of [
      '0.10 USDC',
      '0.50 USDC',
      'Solana devnet',
      'npx tollhouse pay',
      'Paying here needs JavaScript.',
    ]) {
      expect(text).toContain(part);
    }
  });

  test('of members says without JavaScript that signing in needs it, and nothing of paying', async () => {
    const page = await stand.reader({ javaScriptEnabled: false });
    await page.goto(`${await serve()}/club`);
    const text = await page.textContent('main');
    expect(text).toContain('Signing in here with a wallet needs JavaScript.');
    expect(text).not.toMatch(/\bpay/i);
  });
});
