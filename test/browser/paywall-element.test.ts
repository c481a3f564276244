import type express from 'express';
import { paywallScript } from '../../src/middleware/browser/paywall-script.js';
import { anyOf } from '../../src/middleware/gate/any-of.js';
import { crossOrigin } from '../../src/middleware/gate/cross-origin.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../src/middleware/wallet/require-token-balance.js';
import { HAS_BROWSER, WHY_NOT } from '../helpers/browser/browser.js';
import { ESSAY, usePaywallStand } from '../helpers/browser/paywall-stand.js';

const PAY = 'Pay 0.50 USDC with Test Wallet';
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data: blob:; require-trusted-types-for 'script'";
const HOSTILE = '</p><script>window.hacked = 1</script><img src=x onerror="window.hacked = 2">{wallet}';

(HAS_BROWSER ? describe : describe.skip)(`<tollhouse-paywall>, in Chromium${WHY_NOT}`, () => {
  const stand = usePaywallStand();
  let asked = 0;

  /** A site whose page `/` has these elements, and what they are about behind gates. */
  async function open(body: string, options: object = {}, policy = `${POLICY}; trusted-types tollhouse`) {
    const { facilitator, fixture } = stand;
    asked = 0;
    const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50', ...options });
    const holders = requireTokenBalance({ facilitator, mint: 'USDC', minBalance: 5 });
    const url = await fixture.serve((app) => {
      app.get('/tollhouse.js', paywallScript());
      app.get('/site.js', (_req, res) => void res.type('js').send(SITE));
      app.get('/', (_req, res) => {
        res.set('Content-Security-Policy', policy);
        const scripts = '<script src="/site.js"></script><script type="module" src="/tollhouse.js"></script>';
        res.send(`<!doctype html><html lang="en"><title>a site</title>${scripts}<main>${body}</main>`);
      });
      const send: express.RequestHandler = (_req, res) => {
        asked += 1;
        res.type('html').send(ESSAY);
      };
      app.get('/articles/:id', gate, send);
      app.get('/data', gate, (_req, res) => void res.json({ id: 'text' }));
      app.get('/club', anyOf(holders, gate), send);
      app.get('/free', send);
      app.get('/attached', gate, (_req, res) => void res.attachment('page.html').send(HOSTILE));
      app.get('/walled', gate, (_req, res) => {
        res.type('html').set('Content-Security-Policy', "default-src 'none'").send(HOSTILE);
      });
      app.get('/moved', (_req, res) => void res.redirect('/free'));
    });
    await stand.page().goto(url);
    return url;
  }
  /** A site's own script, which writes down what it hears. */
  const SITE = `window.heard = [];
addEventListener('error', (event) => heard.push(String(event.message)));
document.addEventListener('tollhouse-unlocked', async (event) => {
  const { receipt, response } = event.detail;
  heard.push([event.target.id, typeof receipt?.transaction, response.status]);
  if (event.target.id !== 'own') return;
  event.preventDefault();
  event.target.textContent = 'of our own: ' + (await response.json()).id;
});`;
  const heard = () => stand.page().evaluate('window.heard');
  const ARTICLE = '<tollhouse-paywall id="one" src="/articles/1"><p id="preview">it begins</p></tollhouse-paywall>';

  test('shows the preview and the terms, pays, and puts what was bought in the place of both', async () => {
    const wallet = await stand.wallet();
    const url = await open(ARTICLE, { description: 'The long way home' });
    const page = stand.page();
    await page.waitForSelector(`text=${PAY}`);
    expect(await page.textContent('#preview')).toBe('it begins');
    for (const text of ['The long way home', '0.50 USDC', 'once', 'Solana devnet']) {
      await page.waitForSelector(`tollhouse-paywall >> text=${text}`);
    }
    await stand.press(PAY);
    expect(await stand.read()).toBe('what was paid for');
    expect(await page.$$('#preview, #terms')).toEqual([]);
    expect(await heard()).toEqual([['one', 'string', 200]]);
    // What a parser makes of markup does not run, and the focus is on what was bought.
    expect(await page.evaluate('[window.ran ?? false, document.activeElement.id]')).toEqual([false, 'one']);
    expect([page.url(), wallet.signed(), stand.settled(), stand.faults]).toEqual([`${url}/`, 1, 1, []]);
  });

  test('opens by itself within the pass, over reloads, and all that the pass is for at once', async () => {
    const wallet = await stand.wallet();
    const other = '<tollhouse-paywall id="two" src="/articles/2"></tollhouse-paywall>';
    await open(ARTICLE + other, { pass: { for: '24h', group: 'magazine', cookie: true } });
    const page = stand.page();
    await page.click(`#two >> text=${PAY}`);
    await page.waitForSelector('#one[unlocked] #text');
    await page.waitForSelector('#two[unlocked] #text');
    await page.reload();
    await page.waitForSelector('#one[unlocked] #text');
    await page.waitForSelector('#two[unlocked] #text');
    expect(await heard()).toEqual(
      expect.arrayContaining([
        ['one', 'undefined', 200],
        ['two', 'undefined', 200],
      ]),
    );
    expect([wallet.signed(), stand.settled(), stand.faults]).toEqual([1, 1, []]);
  });

  test('has what was bought once opened again after a reload, with the payment that was made', async () => {
    const wallet = await stand.wallet();
    await open(ARTICLE);
    await stand.press(PAY);
    await stand.read();
    await stand.page().reload();
    await stand.read();
    expect([asked, wallet.signed(), stand.settled()]).toEqual([1, 1, 1]);
  });

  test('says that a wallet did not sign, and pays when it is tried again', async () => {
    let tries = 0;
    const wallet = await stand.wallet({
      onSign() {
        tries += 1;
        if (tries === 1) throw new Error('User rejected the request.');
      },
    });
    await open(ARTICLE);
    await stand.press(PAY);
    await stand.says('Test Wallet did not sign. Nothing was paid.');
    expect([stand.settled(), await stand.page().textContent('#preview')]).toEqual([0, 'it begins']);
    await stand.press('Try again');
    await stand.read();
    expect([tries, wallet.signed(), stand.settled()]).toEqual([2, 1, 1]);
  });

  test('shows the new price where it has changed, and pays that', async () => {
    await stand.wallet();
    let price = '$0.50';
    await open(ARTICLE, { price: () => price });
    await stand.page().waitForSelector(`text=${PAY}`);
    price = '$0.60';
    await stand.press(PAY);
    await stand.says('The price has changed. Nothing was paid');
    await stand.press('Try again');
    await stand.press('Pay 0.60 USDC with Test Wallet');
    await stand.read();
    expect(stand.settled()).toBe(1);
  });

  test('sells the offer that is chosen, with the money first', async () => {
    await stand.wallet();
    await open(ARTICLE, { price: ['$0.10', { price: '$0.50', pass: { uses: 10 } }], settle: 'before' });
    await stand.page().click('label:has-text("0.50 USDC")');
    await stand.press(PAY);
    await stand.read();
    expect(stand.settled()).toBe(1);
  });

  test('lets holders sign in', async () => {
    const wallet = await stand.wallet();
    await open('<tollhouse-paywall id="one" src="/club">for members</tollhouse-paywall>');
    await stand.press('Sign in with Test Wallet');
    await stand.read();
    expect([await heard(), wallet.signed()]).toEqual([[['one', 'undefined', 200]], 0]);
  });

  test('goes on with a payment whose outcome was not known when its page was left', async () => {
    const wallet = await stand.wallet();
    const { faults } = stand.fixture.sandbox;
    await open(ARTICLE, { facilitator: stand.facilitatorWith({ settleTimeoutMs: 300 }) });
    faults.add({ kind: 'drop' });
    await stand.press(PAY);
    await stand.says('The network has not confirmed the payment yet.');
    await stand.page().reload();
    await stand.says('The network has not confirmed the payment yet.');
    faults.clear();
    await stand.read();
    expect([wallet.signed(), stand.settled()]).toEqual([1, 1]);
  });

  test.each(['attached', 'walled'])(
    'offers a page of others as a file that no tab runs as one of the site: %s',
    async (path) => {
      await stand.wallet();
      await open(`<tollhouse-paywall src="/${path}"></tollhouse-paywall>`, {}, 'trusted-types tollhouse');
      await stand.press(PAY);
      const page = stand.page();
      const file = await page.waitForSelector('tollhouse-paywall[unlocked] a[download]');
      const type = await page.evaluate(
        `fetch(${JSON.stringify(await file.getAttribute('href'))}).then((it) => it.headers.get('content-type'))`,
      );
      expect([type, await page.evaluate('window.hacked ?? null')]).toEqual(['application/octet-stream', null]);
    },
  );

  test('hands JSON to a script of the site, and shows it where none takes it', async () => {
    await stand.wallet();
    const element = (id: string) => `<tollhouse-paywall id="${id}" src="/data">data</tollhouse-paywall>`;
    await open(element('own') + element('shown'), { pass: { for: '1h', cookie: true } });
    const page = stand.page();
    await page.click(`#own >> text=${PAY}`);
    await page.waitForSelector('#own:has-text("of our own: text")');
    await page.waitForSelector('#shown pre:has-text(\'"id":"text"\')');
    expect(stand.settled()).toBe(1);
  });

  test('lets nothing run that a description, a name or an address brings', async () => {
    await stand.wallet();
    const src = `/articles/${encodeURIComponent(HOSTILE)}?q=${encodeURIComponent(HOSTILE)}`;
    const named = { description: HOSTILE, page: { name: HOSTILE, texts: { en: { oneRequest: HOSTILE } } } };
    const preview = '<p id="preview"></p>';
    await open(
      `<tollhouse-paywall src="${src}">${preview}</tollhouse-paywall>`,
      named,
      `${POLICY} 'self'; trusted-types`,
    );
    const page = stand.page();
    await page.waitForSelector(`text=${PAY}`);
    await page.waitForSelector(`tollhouse-paywall >> text=${HOSTILE.slice(0, 20)}`);
    expect(await page.evaluate('[window.hacked, document.scripts.length]')).toEqual([undefined, 2]);
    expect(
      await page.evaluate('document.querySelector("tollhouse-paywall").shadowRoot.querySelector("script, img[src=x]")'),
    ).toBeNull();
  });

  test('puts no markup into a site whose policy does not name it, and offers a file', async () => {
    await stand.wallet();
    await open(ARTICLE, {}, `${POLICY}; trusted-types 'none'`);
    await stand.press(PAY);
    const link = await stand.page().waitForSelector('#one a[download]');
    expect(await link.getAttribute('download')).toBe('1');
    expect([await stand.page().$('#text'), stand.settled()]).toEqual([null, 1]);
  });

  test('puts in the part of a page that is asked for, and opens what is free at once', async () => {
    await open('<tollhouse-paywall src="/free" select="#text">preview</tollhouse-paywall>');
    await stand.read();
    expect(
      await stand.page().evaluate('[...document.querySelector("tollhouse-paywall").children].map(({ id }) => id)'),
    ).toEqual(['text']);
  });

  test('speaks the language of where it stands', async () => {
    await open(`<section lang="de">${ARTICLE}</section>`);
    await stand.says('In diesem Browser ist keine Solana-Wallet.');
  });

  test('links to where its address leads, and can be tried again where that answers with an error', async () => {
    const element = (src: string) => `<tollhouse-paywall src="${src}">preview</tollhouse-paywall>`;
    const url = await open(element('/moved') + element('/nowhere'));
    const page = stand.page();
    await page.waitForSelector(`a[href="${url}/moved"]`);
    const [again] = await Promise.all([page.waitForResponse('**/nowhere'), page.click('[aria-label="Try again"]')]);
    expect(again.status()).toBe(404);
  });

  test('is made by a function, which tells what was opened', async () => {
    await stand.wallet();
    await open('<div id="place">preview</div>');
    const page = stand.page();
    const opened = page.evaluate(`import('/tollhouse.js').then(async ({ unlock }) => {
      const { receipt, response } = await unlock(document.getElementById('place'), '/articles/1', { id: 'made' });
      return [receipt.payer, response.status, document.querySelector('#place > #made #text').textContent];
    })`);
    await stand.press(PAY);
    expect(await opened).toEqual([stand.fixture.payer.publicKey.toBase58(), 200, 'what was paid for']);
    const wrong = `import('/tollhouse.js').then(({ unlock }) => unlock(document.body, 'https://elsewhere.example/'))`;
    await expect(page.evaluate(wrong)).rejects.toThrow('another origin (https://elsewhere.example)');
  });

  test('asks another origin only where it is told to, and takes no markup from there', async () => {
    await stand.wallet();
    const { facilitator, fixture } = stand;
    const elsewhere = await fixture.serve((app) => {
      app.use(crossOrigin());
      const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50' });
      app.get('/articles/1', gate, (_req, res) => void res.type('html').send(ESSAY));
    });
    const src = `${elsewhere.replace('127.0.0.1', 'localhost')}/articles/1`;
    const policy = `${POLICY} ${new URL(src).origin}; trusted-types tollhouse`.replace(
      "connect-src 'self'",
      `connect-src 'self' ${new URL(src).origin}`,
    );
    await open(
      `<tollhouse-paywall id="one" src="${src}"></tollhouse-paywall><tollhouse-paywall id="two" src="${src}" crossorigin></tollhouse-paywall>`,
      {},
      policy,
    );
    const page = stand.page();
    await page.click(`#two >> text=${PAY}`);
    await page.waitForSelector('#two a[download]');
    expect([await page.$('#text'), stand.settled()]).toEqual([null, 1]);
    expect(await heard()).toEqual([expect.stringContaining('add the attribute crossorigin'), ['two', 'string', 200]]);
  });
});
