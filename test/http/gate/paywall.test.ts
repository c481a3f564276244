import type { Request, Response as ServerAnswer } from 'express';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import { ask } from '../../helpers/http/raw-http.js';
import { askTerms, receiptOf, signPayment } from '../../helpers/transactions/payments.js';

describe.each(EXPRESSES)('a route map, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;

  const serve = (req: Request, res: ServerAnswer): void => {
    res.json({ url: req.originalUrl, payer: req.payment?.payer });
  };

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo, sandbox } = fixture;
    const other = (await sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
    url = await fixture.serve((app) => {
      const routes = paywall(
        {
          'GET /report': '$0.01',
          'post /jobs': { price: ['$0.02', '0.02 USDT'], payTo: other, description: 'A job' },
          '/any': { amount: 5n, asset: 'USDC' },
          'GET /files/gold': '$5',
          'GET /files/*': (req) => (req.query['large'] === undefined ? '$0.03' : '$0.04'),
          'GET /items/:id': '$0.05',
          'GET /old/[id]/text': '$0.06',
          'GET /*.pdf': '$0.07',
          'OPTIONS /asked': '$0.1',
        },
        { facilitator, payTo, description: 'A thing' },
      );
      app.use(routes);
      app.use('/api', paywall({ 'GET /report': '$0.08' }, { facilitator, payTo }), serve);
      app.use(serve);
    }, express);
  });
  afterAll(() => fixture.close());

  async function priceOf(path: string, method = 'GET'): Promise<string> {
    const answer = await fetch(`${url}${path}`, { method });
    await answer.arrayBuffer();
    if (answer.status === 200) return 'free';
    if (answer.status !== 402) return String(answer.status);
    const { accepts } = await askTerms(`${url}${path}`, { method });
    return accepts.map(({ amount }) => amount).join(' or ');
  }

  test.each([
    ['GET', '/report', '10000'],
    ['HEAD', '/report', '10000'],
    ['GET', '/report/', '10000'],
    ['GET', '/REPORT?a=1', '10000'],
    ['GET', '/r%65port', '10000'],
    ['GET', '//report', '10000'],
    ['OPTIONS', '/asked', '100000'],
    ['POST', '/report', 'free'],
    ['GET', '/reports', 'free'],
    ['GET', '/report/more', 'free'],
    ['POST', '/jobs', '20000 or 20000'],
    ['GET', '/jobs', 'free'],
    ['DELETE', '/any', '5'],
    ['OPTIONS', '/any', '5'],
    ['GET', '/files', '30000'],
    ['GET', '/files/a/b', '30000'],
    ['GET', '/files/a?large', '40000'],
    ['GET', '/files/gold', '5000000'],
    ['GET', '/filesystem', 'free'],
    ['GET', '/items/7', '50000'],
    ['GET', '/items/a%2Fb', '50000'],
    ['GET', '/items', 'free'],
    ['GET', '/items/7/more', 'free'],
    ['GET', '/old/7/text', '60000'],
    ['GET', '/a/b/c.PDF', '70000'],
    ['GET', '/api/report', '80000'],
    ['GET', '/api/other', 'free'],
  ])('%s %s costs %s', async (method, path, price) => {
    expect(await priceOf(path, method)).toBe(price);
  });

  test('a path that two readings put under two prices is refused, and no payment taken', async () => {
    const { v2 } = await signPayment(fixture, `${url}/files/cheap`);
    const answer = await fetch(`${url}/files/cheap%2F..%2Fgold`, { headers: v2 });
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'invalid_request' }]);
  });

  test('the official client pays a route, to the wallet of the map', async () => {
    const { sandbox, payer, payTo, facilitator } = fixture;
    const mint = facilitator.tokens[0]?.mint ?? '';
    const before = sandbox.tokenBalance(payTo, mint);
    const answer = await (await payingFetch({ wallet: payer, rpcUrl: sandbox.rpcUrl }))(`${url}/files/a?large`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ url: '/files/a?large', payer: payer.publicKey.toBase58() });
    expect(receiptOf(answer)).toMatchObject({ success: true });
    expect(sandbox.tokenBalance(payTo, mint) - before).toBe(40_000n);
  });

  test('what a route says for itself wins: its recipient, its description', async () => {
    const [jobs, report] = await Promise.all([askTerms(`${url}/jobs`, { method: 'POST' }), askTerms(`${url}/report`)]);
    expect(jobs.resource?.description).toBe('A job');
    expect(report.resource?.description).toBe('A thing');
    expect(report.accepts[0]?.payTo).toBe(fixture.payTo);
    expect(jobs.accepts[0]?.payTo).not.toBe(fixture.payTo);
  });

  test('a payment for one route is none for another, nor for another address of it', async () => {
    const { v2 } = await signPayment(fixture, `${url}/items/1`);
    const first = await fetch(`${url}/items/1`, { headers: v2 });
    expect(first.status).toBe(200);
    expect((await fetch(`${url}/items/2`, { headers: v2 })).status).toBe(402);
    expect((await fetch(`${url}/report`, { headers: v2 })).status).toBe(402);
  });

  test('a preflight is answered where the request it announces has a price, and is the app’s elsewhere', async () => {
    const ask = (path: string, method: string) =>
      fetch(`${url}${path}`, { method: 'OPTIONS', headers: { 'access-control-request-method': method } });
    expect((await ask('/report', 'GET')).status).toBe(204);
    expect((await ask('/report', 'POST')).status).toBe(200);
  });

  /** A request's target as it is, which `fetch` would tidy up. */
  const statusOf = async (target: string, lines: readonly string[] = [], method = 'GET') =>
    (await ask(url, `${method} ${target}`, lines)).status;

  test.each([
    '//x/report',
    '/\\x/report',
    '/a//../report',
    '/a//..//../report',
    '/files//%2e%2e/report',
    '/report/x//../..//report',
    '/api//../report',
  ])('what "new URL()" makes of %s is not served unpaid', async (target) => {
    expect([400, 402]).toContain(await statusOf(target));
  });

  test('whoever pays for a cheap path does not get the dear one that it becomes', async () => {
    expect(await statusOf('/files/x//../gold')).toBe(400);
    expect(await statusOf('/files/x')).toBe(402);
  });

  test('what looks like a preflight reaches no handler of a gated OPTIONS route', async () => {
    const asking = ['Origin: https://shop.example', 'Access-Control-Request-Method: GET'];
    expect(await statusOf('/asked', asking, 'OPTIONS')).toBe(204);
    expect(await statusOf('/asked', [], 'OPTIONS')).toBe(402);
  });
});
