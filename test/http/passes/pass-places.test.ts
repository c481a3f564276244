import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequirements } from '@x402/core/types';
import type { Express, Router } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { signTerms } from '../../helpers/transactions/payments.js';
import { type WalletKey, walletKey } from '../../helpers/transactions/wallet-key.js';

let names = 0;

describe.each(EXPRESSES)('what a pass covers, %s', (version, express) => {
  let fixture: TollFixture;
  let url: string;

  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());

  const router = (): Router => express.Router({ mergeParams: true });

  /** Asks for a path as it is written here: `fetch` would write some letters otherwise. */
  async function get(path: string, headers: Readonly<Record<string, string>> = {}) {
    const { hostname, port } = new URL(url);
    const [answer] = await once(request({ hostname, port, path, headers }).end(), 'response');
    return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
  }

  async function buy(path: string) {
    const { headers } = await get(path);
    const [terms] = decodePaymentRequiredHeader(headers['payment-required']).accepts;
    const paid = await get(path, (await signTerms(fixture, terms as PaymentRequirements)).v2);
    expect(paid.status).toBe(200);
    return { 'access-pass': String(paid.headers['access-pass']) };
  }

  test('is no dear route whose pattern a cheap path below a mount reads like', async () => {
    const { facilitator, payTo } = fixture;
    const sold = { facilitator, payTo, pass: { uses: 9 } };
    url = await fixture.serve((app) => {
      app.get(/^\/vault\/(\d+)$/, requirePayment({ ...sold, price: '$5' }), (_req, res) => void res.send('dear'));
      const texts = router();
      texts.get('/', requirePayment({ ...sold, price: '$0.01' }), (_req, res) => void res.send('cheap'));
      app.use('/:lang/:section/:page', texts);
    }, express);
    const cheap = '/^\\/vault\\/(\\d+)$/';
    const token = await buy(cheap);
    expect(await get('/vault/1', token)).toMatchObject({ status: 402, body: expect.stringContaining('another_route') });
    expect(await get(cheap, token)).toMatchObject({ status: 200, body: 'cheap' });
    const plain = await buy('/en/news/today');
    expect((await get('/en/news/today', plain)).status).toBe(200);
  });

  test('is one path behind a gate of no route, whatever route has passed the request on before', async () => {
    const { facilitator, payTo } = fixture;
    const sold = { facilitator, payTo, pass: { uses: 9 } };
    const all = version === 'Express 4' ? '*' : '/*all';
    url = await fixture.serve((app) => {
      app.all(all, (_req, _res, next) => next());
      app.get('/articles/:id', (_req, _res, next) => next());
      app.use('/articles', requirePayment({ ...sold, price: '$0.01' }), (req, res) => void res.send(req.path));
      const [wrapped, counted] = [requirePayment({ ...sold, price: '$0.01' }), { ...sold, price: '$0.02' }];
      app.get(
        '/wrapped/:id',
        (req, res, next) => wrapped(req, res, next),
        (_req, res) => void res.send('in'),
      );
      app.get(/^\/number\/\d+$/, requirePayment(counted), (_req, res) => void res.send('in'));
    }, express);
    const token = await buy('/articles/1');
    expect((await get('/articles/1', token)).status).toBe(200);
    expect((await get('/articles/2', token)).status).toBe(402);
    for (const [one, other] of [
      ['/wrapped/1', '/wrapped/2'],
      ['/number/1', '/number/2'],
    ] as const) {
      expect((await get(other, await buy(one))).status).toBe(200);
    }
  });

  describe('without being paid for: an allowance', () => {
    const allowed = () => {
      const { facilitator, payTo } = fixture;
      const holders = [{ mint: 'USDC', minBalance: 1, allowance: { uses: 2, per: '30d' } }];
      return { facilitator, payTo, price: '$1', holders };
    };
    function holder(): WalletKey {
      const wallet = walletKey(`allowed ${version} ${names++}`);
      fixture.sandbox.fundToken(wallet.address, fixture.sandbox.tokens[0]?.mint ?? '', 5_000_000n);
      return wallet;
    }
    const enter = async (path: string, wallet: WalletKey, method = 'GET') => {
      const headers = await signIn(wallet, url + path, { method });
      return (await fetch(url + path, { method, headers })).status;
    };
    async function served(wallet: WalletKey, paths: readonly string[], method?: string): Promise<number> {
      let count = 0;
      for (const path of paths) if ((await enter(path, wallet, method)) === 200) count += 1;
      return count;
    }

    test.each<[string, (app: Express) => void]>([
      [
        'a router',
        (app) => {
          const members = router();
          members.get('/quote', requirePayment(allowed()), (_req, res) => void res.send('quote'));
          app.use('/members', members);
        },
      ],
      [
        'a paywall',
        (app) => {
          const { price, ...rest } = allowed();
          app.use('/members', paywall({ 'GET /quote': price }, rest), (_req, res) => void res.send('quote'));
        },
      ],
      [
        'a gate of no route',
        (app) => app.use('/members', requirePayment(allowed()), (_req, res) => void res.send('quote')),
      ],
    ])('begins once behind %s, however its address is spelled', async (_what, mount) => {
      url = await fixture.serve(mount, express);
      const spelled = ['/members/quote', '/Members/quote', '/MEMBERS/quote', '/members/quote/', '/members/quote?a'];
      expect(await served(holder(), spelled)).toBe(2);
      expect(await served(holder(), ['/members/quote'])).toBe(1);
    });

    test('begins for no made-up name, and once for each place and each method that its seller has written', async () => {
      url = await fixture.serve((app) => {
        const tenant = router();
        tenant.get('/quote', requirePayment(allowed()), (_req, res) => void res.send('quote'));
        const gate = requirePayment(allowed());
        const shared = router();
        shared.get('/quote', gate, (_req, res) => void res.send('quote'));
        shared.post('/quote', gate, (_req, res) => void res.send('quote'));
        app.use('/a', shared);
        app.use('/b', shared);
        app.all('/any', requirePayment(allowed()), (_req, res) => void res.send('any'));
        app.use('/tenants/:tenant', tenant);
      }, express);
      const wallet = holder();
      expect(await served(wallet, ['/a/quote', '/a/quote', '/a/quote'])).toBe(2);
      expect(await served(wallet, ['/b/quote', '/b/quote', '/b/quote'])).toBe(2);
      expect(await served(wallet, ['/a/quote', '/a/quote', '/a/quote'], 'POST')).toBe(2);
      expect(await served(wallet, ['/any', '/any'])).toBe(2);
      expect(await served(wallet, ['/any'], 'POST')).toBe(0);
      const made = Array.from({ length: 60 }, (_, at) => `/tenants/t${at}/quote`);
      const free = await served(wallet, made);
      expect(free).toBeLessThanOrEqual(22);
      expect(
        await served(
          wallet,
          Array.from({ length: 30 }, (_, at) => `/tenants/more${at}/quote`),
        ),
      ).toBe(0);
    });
  });
});
