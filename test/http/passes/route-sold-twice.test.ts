import express, { type ErrorRequestHandler, type Express } from 'express';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { PassOption } from '../../../src/middleware/terms/pass-option.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signPayment } from '../../helpers/transactions/payments.js';

describe('a route at which two gates sell passes', () => {
  let fixture: TollFixture;
  let facilitator: Facilitator;
  let errors: string[];

  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    facilitator = fixture.facilitatorWith({ storage: await openStorage('memory:') });
    errors = [];
  });

  const gate = (price: string, pass: PassOption, by = facilitator) =>
    requirePayment({ facilitator: by, payTo: fixture.payTo, price, pass });
  const isDear = (url: string) => url.includes('quality=hd');

  const serve = (configure: (app: Express) => void) =>
    fixture.serve((app) => {
      configure(app);
      const answer: ErrorRequestHandler = (error: Error, _req, res, _next) => {
        errors.push(error.message);
        res.status(500).end();
      };
      app.use(answer);
    });

  async function buy(url: string) {
    const { v2 } = await signPayment(fixture, url);
    const paid = await fetch(url, { headers: v2 });
    expect(paid.status).toBe(200);
    return { 'access-pass': paid.headers.get('access-pass') ?? '' };
  }
  const status = async (url: string, headers = {}) => (await fetch(url, { headers })).status;
  const earned = () => fixture.sandbox.tokenBalance(fixture.payTo, fixture.sandbox.tokens[0]?.mint ?? '');

  test.each<[string, (app: Express) => void]>([
    [
      'chosen by the request',
      (app) => {
        const [cheap, dear] = [gate('$0.01', { uses: 100 }), gate('$5', { uses: 1 })];
        app.get(
          '/film/:id',
          (req, res, next) => (isDear(req.url) ? dear : cheap)(req, res, next),
          (req, res) => void res.send(isDear(req.url) ? 'dear' : 'cheap'),
        );
      },
    ],
    [
      'written twice',
      (app) => {
        app.get(
          '/film/:id',
          (req, _res, next) => (isDear(req.url) ? next('route') : next()),
          gate('$0.01', { for: '1h' }),
          (_req, res) => void res.send('cheap'),
        );
        app.get('/film/:id', gate('$5', { for: '1h' }), (_req, res) => void res.send('dear'));
      },
    ],
    [
      'with gates made for each request',
      (app) => {
        app.get(
          '/film/:id',
          (req, res, next) => gate(isDear(req.url) ? '$5' : '$0.01', { for: '1h' })(req, res, next),
          (req, res) => void res.send(isDear(req.url) ? 'dear' : 'cheap'),
        );
      },
    ],
  ])('does not give the dear goods for the pass of the cheap gate, %s', async (_how, configure) => {
    const url = await serve(configure);
    const before = earned();
    const token = await buy(`${url}/film/1?quality=sd`);
    expect(await status(`${url}/film/1?quality=hd`, token)).toBe(500);
    expect(await status(`${url}/film/1?quality=hd`)).toBe(500);
    expect(errors).toEqual(
      Array(2).fill(expect.stringMatching(/another gate sells passes for "GET \/film\/:id".*"group"/)),
    );
    expect(await status(`${url}/film/1?quality=sd`, token)).toBe(200);
    expect(earned() - before).toBe(10_000n);
  });

  test('nor on another host of the same server', async () => {
    const sell = (price: string) => {
      const shop = express();
      shop.get('/report', gate(price, { uses: 100 }), (_req, res) => void res.send(price));
      return shop;
    };
    const url = await serve((app) => {
      const [cheap, dear] = [sell('$0.01'), sell('$5')];
      app.use((req, res, next) => (req.hostname === 'localhost' ? dear : cheap)(req, res, next));
    });
    const before = earned();
    const token = await buy(`${url}/report`);
    expect(await status(`${url.replace('127.0.0.1', 'localhost')}/report`, token)).toBe(500);
    expect(await status(`${url}/report`, token)).toBe(200);
    expect(earned() - before).toBe(10_000n);
  });

  test('sells both where each has a group of its own', async () => {
    const url = await serve((app) => {
      const cheap = gate('$0.01', { uses: 100, group: 'sd' });
      const dear = gate('$5', { uses: 1, group: 'hd' });
      app.get(
        '/film/:id',
        (req, res, next) => (isDear(req.url) ? dear : cheap)(req, res, next),
        (_req, res) => void res.send('film'),
      );
    });
    const token = await buy(`${url}/film/1?quality=sd`);
    expect(await status(`${url}/film/1?quality=hd`, token)).toBe(402);
    expect(await status(`${url}/film/1?quality=sd`, token)).toBe(200);
    expect(errors).toEqual([]);
  });

  test('goes on with gates made anew with the same options, on another instance and on a new server with another price', async () => {
    const storage = await openStorage('memory:');
    const by = fixture.facilitatorWith({ storage });
    const instance = (price: string, at = by) => {
      return serve((app) => {
        app.get(
          '/film/:id',
          (req, res, next) => gate(price, { uses: 100 }, at)(req, res, next),
          (_req, res) => void res.send('film'),
        );
      });
    };
    const [one, other] = [await instance('$0.01'), await instance('$0.01', fixture.facilitatorWith({ storage }))];
    const token = await buy(`${one}/film/1`);
    const changed = await serve((app) => {
      app.get('/film/:id', gate('$0.02', { uses: 50 }, by), (_req, res) => void res.send('film'));
    });
    for (const url of [one, other, changed]) {
      expect(await status(`${url}/film/2`, token)).toBe(200);
      expect(await status(`${url}/film/2`, token)).toBe(200);
    }
    expect(errors).toEqual([]);
    await storage.close();
  });
});
