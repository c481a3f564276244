import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openPayFixture, type PayFixture } from '../helpers/fixtures/cli-fixture.js';
import { type AppServer, serveApp } from '../helpers/http/app-server.js';
import { selfSigned } from '../helpers/http/self-signed.js';

const HELD = 5_000_000n;
const PRICE = 500_000n;
const REDIRECTS = [301, 302, 303, 307, 308];

describe('tollhouse pay, where a request is led elsewhere', () => {
  let fixture: PayFixture;
  let [shop, other] = ['', ''];
  let secure: AppServer;
  /** What the other site was asked with. */
  let asked: (string | undefined)[] = [];
  const before = getGlobalDispatcher();
  // The certificate of the test is vouched for by nobody.
  const trusting = new Agent({ connect: { rejectUnauthorized: false } });

  beforeAll(async () => {
    setGlobalDispatcher(trusting);
    fixture = await openPayFixture();
    const { sold } = fixture;
    const gate = requirePayment(sold);
    secure = await serveApp(
      (app) => void app.get('/report', gate, (_req, res) => void res.send('bought')),
      undefined,
      selfSigned(),
    );
    other = await fixture.serve((app) => {
      app.use((req, _res, next) => {
        asked.push(req.get('payment-signature'));
        next();
      });
      app.get('/report', gate, (_req, res) => void res.send('bought'));
    });
    shop = await fixture.serve((app) => {
      app.get('/report', gate, (_req, res) => void res.send('bought'));
      app.all('/within/:status', (req, res) => void res.redirect(Number(req.params.status), '/report'));
      app.all('/secure/:status', (req, res) => void res.redirect(Number(req.params.status), `${secure.url}/report`));
      app.all('/other/:status', (req, res) => void res.redirect(Number(req.params.status), `${other}/report`));
      app.get('/round', (_req, res) => void res.redirect('/round'));
      app.get('/paid', gate, (_req, res) => void res.redirect(`${other}/report`));
      app.get('/same', (_req, res) => void res.status(304).end());
    });
  });
  afterAll(async () => {
    setGlobalDispatcher(before);
    await trusting.close();
    await secure.close();
    await fixture.close();
  });
  beforeEach(async () => {
    await fixture.newBuyer('5');
    asked = [];
  });

  const pay = (path: string, ...more: readonly string[]) => fixture.run(...fixture.payArgs(shop + path), ...more);

  test.each(REDIRECTS)('goes along within a site before it pays, and pays where it was led, after a %d', async (it) => {
    const { code, out, text } = await pay(`/within/${it}`);
    expect([code, out, fixture.held()]).toEqual([0, 'bought', HELD - PRICE]);
    expect(text).toContain(`leads to   ${shop}/report`);
  });

  test.each(REDIRECTS)('goes along to https of the same host, and pays there, after a %d', async (status) => {
    expect(await pay(`/secure/${status}`)).toMatchObject({ code: 0, out: 'bought' });
    expect(fixture.held()).toBe(HELD - PRICE);
  });

  test.each(REDIRECTS)('goes to no other site, and tells what pays there, after a %d', async (status) => {
    const out = join(fixture.folder, 'nothing');
    const led = await pay(`/other/${status}`, '--out', out);
    expect([led.code, led.out, existsSync(out)]).toEqual([1, '', false]);
    expect(led.text).toContain(`${status}: ${shop}/other/${status} leads to ${other}/report`);
    expect(led.text).toContain(`nothing was paid. If that is where you want to ask: npx tollhouse pay ${other}/report`);
    const { error } = JSON.parse((await pay(`/other/${status}`, '--json')).text);
    expect(error.message).toContain(`leads to ${other}/report`);
    expect([fixture.held(), asked]).toEqual([HELD, []]);
  });

  test('sends no body on, and does not go round in a circle', async () => {
    expect(await pay('/within/308', '--data', '{}')).toMatchObject({
      code: 1,
      text: expect.stringContaining('a POST is not sent on by itself; nothing was paid'),
    });
    expect(await pay('/round')).toMatchObject({ code: 1, text: expect.stringContaining('was sent on 5 times before') });
    expect(fixture.held()).toBe(HELD);
  });

  test('sends no payment on, and tells where what was paid for is', async () => {
    const paid = await pay('/paid');
    expect(paid).toMatchObject({
      code: 0,
      text: expect.stringContaining(`leads to   ${other}/report, where the payment`),
    });
    await fixture.newBuyer('5');
    expect(JSON.parse((await pay('/paid', '--json')).out)).toMatchObject({ paid: true, location: `${other}/report` });
    expect([fixture.held(), asked]).toEqual([HELD - PRICE, []]);
  });

  test('takes an answer for what it is that leads nowhere', async () => {
    expect(await pay('/same', '--json')).toMatchObject({ code: 0, out: expect.stringContaining('"status": 304') });
  });
});
