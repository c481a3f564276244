import express from 'express';
import request from 'supertest';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../src/middleware/wallet/require-token-balance.js';
import { createMemoryLedger } from '../../src/storage/ledger/memory-ledger.js';
import { HAS_BROWSER, WHY_NOT } from '../helpers/browser/browser.js';
import { ESSAY, usePaywallStand } from '../helpers/browser/paywall-stand.js';

const PAY = 'Pay 0.50 USDC with Test Wallet';
const PAID_HERE = 'Paid. Here it is:';
/** As a browser does that keeps no cookies and does not say so. */
const NO_COOKIES = `
  Object.defineProperty(Document.prototype, 'cookie', { get: () => '', set() {} });
  Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('blocked', 'SecurityError'); } });`;

(HAS_BROWSER ? describe : describe.skip)(`readers who have bad luck, in Chromium${WHY_NOT}`, () => {
  const stand = usePaywallStand();
  const gate = (more = {}) => {
    const { facilitator, fixture } = stand;
    return requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50', ...more });
  };
  const serve = (configure: (app: express.Express) => void) => stand.fixture.serve(configure);
  const essay: express.RequestHandler = (_req, res) => void res.type('html').send(ESSAY);

  test.each(['after', 'before'] as const)(
    'a browser without cookies has what it paid for %s the handler, in this page, and pays once',
    async (settle) => {
      await stand.context().addInitScript(NO_COOKIES);
      const wallet = await stand.wallet();
      const url = await serve((app) => app.get('/essay', gate({ settle }), essay));
      await stand.page().goto(`${url}/essay`);
      await stand.press(PAY);
      await stand.says(PAID_HERE);
      await stand.page().waitForSelector('a[download]');
      expect([stand.settled(), wallet.signed(), stand.faults]).toEqual([1, 1, []]);
    },
  );

  test('a browser whose cookies no script may touch shows the page all the same', async () => {
    await stand
      .context()
      .addInitScript(
        `Object.defineProperty(Document.prototype, 'cookie', { get() { throw new Error('no'); }, set() { throw new Error('no'); } });`,
      );
    await stand.wallet();
    const url = await serve((app) => app.get('/essay', gate(), essay));
    await stand.page().goto(`${url}/essay`);
    await stand.press(PAY);
    await stand.says(PAID_HERE);
    expect([stand.settled(), stand.faults]).toEqual([1, []]);
  });

  test.each([
    ['that nobody can read', 'x'],
    ['of another payment', Buffer.from(JSON.stringify({ x402Version: 2, payload: {} })).toString('base64')],
  ])('a cookie %s, which another host of the domain has set, is in nobody’s way', async (_what, value) => {
    await stand.wallet();
    const url = await serve((app) => {
      app.get('/essay', gate(), essay);
      app.get('/day', gate({ pass: { for: '24h', cookie: true } }), essay);
    });
    for (const httpOnly of [false, true]) {
      const name = 'payment-signature';
      await stand.context().addCookies([{ name, value, domain: '127.0.0.1', path: '/', httpOnly }]);
      for (const path of ['essay', 'day']) {
        await stand.page().goto(`${url}/${path}?${httpOnly}`);
        if (path === 'essay' || !httpOnly) {
          await stand.press(PAY);
          await stand.page().waitForSelector(`#text, #status:has-text("${PAID_HERE}")`);
        }
        if (path === 'day') {
          await stand.page().reload();
          await stand.read();
        }
      }
    }
    expect(stand.settled()).toBe(3);
  });

  test.each([
    ['is too large', 'application/x-www-form-urlencoded', `text=${'x'.repeat(70_000)}`],
    ['was read by an app in another encoding', 'application/x-www-form-urlencoded', 'text=%E9'],
  ])('a form that %s is not paid for, and its reader is told', async (_what, type, body) => {
    await stand.wallet();
    const url = await serve((app) => {
      app.get('/', (_req, res) => void res.send('<p>a form'));
      if (body.length < 100) {
        app.use((req, _res, next) => {
          req.resume();
          req.once('end', () => next());
        });
      }
      app.post('/comment', gate(), essay);
    });
    const page = stand.page();
    await page.route(`${url}/comment`, (route) =>
      route.request().isNavigationRequest()
        ? route.continue({
            method: 'POST',
            postData: body,
            headers: { ...route.request().headers(), 'content-type': type },
          })
        : route.continue(),
    );
    await page.goto(`${url}/comment`);
    await stand.says('What you sent cannot be kept while you pay');
    expect([await page.$$('button:has-text("Pay")'), stand.settled()]).toEqual([[], 0]);
  });

  test('a form of a page that is not in UTF-8 is sent as it was, once, and shown here', async () => {
    await stand.wallet();
    const bodies: string[] = [];
    const url = await serve((app) => {
      app.get('/', (_req, res) => {
        res.type('text/html; charset=windows-1252');
        res.send(
          Buffer.from(
            '<form method="post" action="/comment"><input name="text" value="\u00e9"><button>say it</button></form>',
            'latin1',
          ),
        );
      });
      app.post('/comment', gate(), express.raw({ type: '*/*' }), (req, res) => {
        bodies.push(String(req.body));
        res.type('html').send(ESSAY);
      });
    });
    await stand.page().goto(url);
    await stand.page().click('text=say it');
    await stand.press(PAY);
    await stand.says(PAID_HERE);
    expect([bodies, stand.settled()]).toEqual([['text=%E9'], 1]);
  });

  test('a file that was bought is not offered for sale again by a reload', async () => {
    const wallet = await stand.wallet();
    const url = await serve((app) => {
      app.get('/file', gate(), (_req, res) => void res.attachment('song.bin').send(Buffer.alloc(9)));
    });
    const page = stand.page();
    await page.goto(`${url}/file`);
    await stand.press(PAY);
    await stand.says(PAID_HERE);
    await Promise.all([page.waitForEvent('download'), page.reload({ waitUntil: 'commit' })]);
    await page.waitForSelector('text=Come in');
    // A wallet is found once the page stands.
    await page.evaluate('new Promise(requestAnimationFrame)');
    expect([await page.$$('button:has-text("Pay")'), wallet.signed()]).toEqual([[], 1]);
  });

  test('a payment that the site has forgotten is not offered once more, neither by a reload nor by a press', async () => {
    const wallet = await stand.wallet();
    const baseUrl = 'https://shop.example';
    const before = await serve((app) => app.get('/essay', gate({ baseUrl }), essay));
    const forgetful = gate({ baseUrl, facilitator: stand.facilitatorWith({ ledger: createMemoryLedger() }) });
    const url = await serve((app) => {
      app.get('/essay', async (req, _res, next) => {
        const payment = req.get('payment-signature');
        if (payment !== undefined) await fetch(`${before}/essay`, { headers: { 'payment-signature': payment } });
        next();
      });
      app.get('/essay', forgetful, essay);
    });
    const warning = /Do not pay again: show the seller this transaction: \w{64}/;
    await stand.page().goto(`${url}/essay`);
    await stand.press(PAY);
    await stand.says(warning);
    const told = await stand.page().textContent('#status');
    for (const again of [() => stand.press('Try again'), () => stand.page().reload()]) {
      await again();
      await stand.says(warning);
      await stand.page().waitForSelector('text=Try again');
      expect(await stand.page().textContent('#status')).toBe(told);
      expect([await stand.page().$$('button:has-text("Pay")'), wallet.signed()]).toEqual([[], 1]);
    }
  });

  test('what has nothing to show is said to be done', async () => {
    await stand.wallet();
    const url = await serve((app) => app.get('/ping', gate(), (_req, res) => void res.sendStatus(204)));
    await stand.page().goto(`${url}/ping`);
    await stand.press(PAY);
    await stand.says('Paid, and done.');
    expect(stand.settled()).toBe(1);
  });

  test('a page that a service worker asks for is the one that pays', async () => {
    const url = await serve((app) => app.get('/essay', gate(), essay));
    const ask = async (mode: string) => {
      const headers = { Accept: 'text/html,*/*;q=0.8', 'Sec-Fetch-Dest': 'empty', 'Sec-Fetch-Mode': mode };
      return (await request(url).get('/essay').set(headers)).get('Content-Type');
    };
    expect(await ask('navigate')).toMatch('text/html');
    expect(await ask('cors')).toMatch('application/json');
  });

  test.each(['throw', 'nothing', 'text'] as const)(
    'a wallet that makes %s of a message leaves a way to go on',
    async (messages) => {
      await stand.wallet({ messages });
      const { facilitator } = stand;
      const held = requireTokenBalance({ facilitator, mint: 'USDC', minBalance: 1 });
      const url = await serve((app) => app.get('/club', held, essay));
      await stand.page().goto(`${url}/club`);
      await stand.press('Sign in with Test Wallet');
      await stand.says('Test Wallet did not sign.');
      await stand.press('Try again');
      await stand.page().waitForSelector('text=Sign in with Test Wallet');
      expect(stand.faults).toEqual([]);
    },
  );

  test('a line that drops while the answer comes is told, and the same payment brings it again', async () => {
    await stand.wallet();
    let cuts = 0;
    const url = await serve((app) => {
      app.use((req, res, next) => {
        const end = res.end.bind(res);
        const cut = (chunk: Buffer) => {
          res.write(chunk.subarray(0, 6_000), () => res.destroy());
          return res;
        };
        const isFirst = req.headers['payment-signature'] !== undefined && cuts === 0;
        if (isFirst) Reflect.set(res, 'end', (...args: [Buffer]) => (++cuts === 1 ? cut(...args) : end(...args)));
        next();
      });
      app.get('/essay', gate(), (_req, res) => void res.type('html').send(ESSAY + ' '.repeat(200_000)));
    });
    await stand.page().goto(`${url}/essay`);
    await stand.press(PAY);
    await stand.says('The site does not answer. Your payment is kept and brought again; you pay once.');
    await stand.press('Try again');
    await stand.read();
    expect([cuts, stand.settled(), stand.faults]).toEqual([1, 1, []]);
  });
});
