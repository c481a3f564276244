import express from 'express';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { HAS_BROWSER, WHY_NOT } from '../helpers/browser/browser.js';
import { ESSAY, usePaywallStand } from '../helpers/browser/paywall-stand.js';
import { EXPRESSES } from '../helpers/fixtures/toll-fixture.js';
import { phantom, solflare } from '../helpers/transactions/wallet-layouts.js';

const PAY = 'Pay 0.50 USDC with Test Wallet';

(HAS_BROWSER ? describe : describe.skip).each(EXPRESSES)(
  `the paywall page on %s, in Chromium${WHY_NOT}`,
  (_name, express_) => {
    const stand = usePaywallStand();
    const gate = (more = {}) => {
      const { facilitator, fixture } = stand;
      return requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.50', description: 'An essay', ...more });
    };

    test.each([
      ['plainly', undefined],
      ['as Phantom does, with guards before and behind', phantom],
      ['as Solflare does', solflare],
    ])('is paid with a wallet that signs %s, and what was bought stands in its place', async (_how, layout) => {
      const [{ mint } = { mint: '' }] = stand.fixture.sandbox.tokens;
      const wallet = await stand.wallet({ mint, ...(layout && { layout }) });
      const url = await stand.fixture.serve((app) => {
        app.get('/essay', gate(), (_req, res) => void res.type('html').send(ESSAY));
      }, express_);
      const page = stand.page();
      expect((await page.goto(`${url}/essay?part=1#end`))?.status()).toBe(402);
      await stand.press(PAY);
      await stand.read();
      expect([page.url(), await page.evaluate('window.ran')]).toEqual([`${url}/essay?part=1#end`, true]);
      expect([stand.settled(), wallet.signed(), await page.evaluate('history.length')]).toEqual([1, 1, 2]);
      expect([await page.evaluate('document.cookie'), stand.faults]).toEqual(['', []]);
    });

    test('has a reload within the pass covered, and what was bought once opened again without paying', async () => {
      const wallet = await stand.wallet();
      let runs = 0;
      const url = await stand.fixture.serve((app) => {
        const send: express.RequestHandler = (_req, res) => {
          runs += 1;
          res.type('html').send(ESSAY);
        };
        app.get('/once', gate(), send);
        app.get('/day', gate({ pass: { for: '24h', cookie: true } }), send);
      }, express_);
      const page = stand.page();
      for (const [path, runsAfter] of [
        ['once', 1],
        ['day', 3],
      ] as const) {
        await page.goto(`${url}/${path}`);
        await stand.press(PAY);
        await stand.read();
        await page.reload();
        await stand.read();
        expect(runs).toBe(runsAfter);
      }
      expect([stand.settled(), wallet.signed()]).toEqual([2, 2]);
    });

    test.each([
      ['unread by the app', undefined],
      ['parsed by the app', express.urlencoded({ extended: true })],
    ])('pays for a form whose body is %s, and sends it once', async (_how, parser) => {
      await stand.wallet();
      const said: string[] = [];
      const url = await stand.fixture.serve((app) => {
        app.get('/', (_req, res) => {
          const fields = '<textarea name="text">ä &amp; b\n=c</textarea><input name="submit" value="1 2">';
          res.send(`<form method="post" action="/comment?to=7">${fields}<button>say it</button></form>`);
        });
        if (parser !== undefined) app.use(parser);
        app.post('/comment', gate(), express.urlencoded({ extended: true }), (req, res) => {
          said.push(`${req.body.text} ${req.body.submit}`);
          res.send(`<p id="text">said: ${req.body.submit}</p>`);
        });
      }, express_);
      const page = stand.page();
      await page.goto(url);
      await stand.press('say it');
      await stand.press(PAY);
      expect([await stand.read(), page.url()]).toEqual(['said: 1 2', `${url}/comment?to=7`]);
      expect([said, stand.settled()]).toEqual([['ä & b\r\n=c 1 2'], 1]);
    });

    test('shows an image, a text and a redirect at their own addresses, hands over a download, and names a picture', async () => {
      await stand.wallet();
      const pixel = Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64');
      const url = await stand.fixture.serve((app) => {
        app.get('/image', gate(), (_req, res) => void res.type('gif').send(pixel));
        app.get('/data', gate(), (_req, res) => void res.json({ id: 'text' }));
        app.get('/moved', gate(), (_req, res) => void res.redirect('/free'));
        app.get('/file', gate(), (_req, res) => void res.attachment('essay.txt').send('a file'));
        app.get('/picture', gate(), (_req, res) => void res.attachment('a lake.gif').send(pixel));
        app.get('/free', (_req, res) => void res.send('<p id="text">elsewhere</p>'));
      }, express_);
      const page = stand.page();
      const buy = async (path: string) => {
        await page.goto(`${url}/${path}`);
        await stand.press(PAY);
      };
      await buy('image');
      await page.waitForSelector('img');
      expect([page.url(), await page.$eval('img', ({ naturalWidth }) => naturalWidth)]).toEqual([`${url}/image`, 1]);
      await buy('data');
      await page.waitForSelector('pre:has-text(\'"id":"text"\')');
      await buy('moved');
      expect([await stand.read(), page.url()]).toEqual(['elsewhere', `${url}/free`]);
      await buy('file');
      await stand.says('Here it is');
      const [download] = await Promise.all([page.waitForEvent('download'), stand.press('Save')]);
      expect([download.suggestedFilename(), stand.settled()]).toEqual(['essay.txt', 4]);
      await buy('picture');
      await page.waitForSelector('img[alt="a lake.gif"]');
    });

    test('with the money first, has a long answer stream into its place', async () => {
      const wallet = await stand.wallet();
      const long = `${ESSAY}${`<p>${'more '.repeat(3_000)}</p>`.repeat(100)}`;
      const url = await stand.fixture.serve((app) => {
        app.get('/essay', gate({ settle: 'before' }), (_req, res) => void res.type('html').send(long));
      }, express_);
      await stand.page().goto(`${url}/essay`);
      await stand.press(PAY);
      await stand.read();
      expect([stand.settled(), wallet.signed()]).toEqual([1, 1]);
    });
  },
);
