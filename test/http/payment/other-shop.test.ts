import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequirements } from '@x402/core/types';
import type { Request, RequestHandler } from 'express';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signTerms } from '../../helpers/transactions/payments.js';

const CENT = 10_000n;

describe.each(DAILY_EXPRESSES)('what was paid for one shop, brought to another, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let mallory: string;
  let isBroken = true;
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    mallory = (await fixture.sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
    const { facilitator, payTo } = fixture;
    const sold = { facilitator, payTo, price: '$0.01', settle: 'before' } as const;
    const shops: Record<string, RequestHandler> = {
      'news.example': requirePayment({ ...sold, baseUrl: 'https://news.example' }),
      'gold.example': requirePayment({ ...sold, baseUrl: 'https://gold.example', price: '$0.90' }),
      'one.example': requirePayment(sold),
      'two.example': requirePayment(sold),
    };
    const ownerOf = (req: Request) => (req.get('X-Shop') === 'mallory' ? mallory : payTo);
    const priceOf = (req: Request) => (req.get('X-Model') === 'large' ? '$0.90' : '$0.01');
    const serve: RequestHandler = (req, res) => {
      runs += 1;
      if (isBroken) return void res.status(503).send('not now');
      res.send(`the report of ${req.get('X-Shop') ?? req.hostname}, ${req.get('X-Model') ?? 'small'}`);
    };
    url = await fixture.serve((app) => {
      app.get('/report', (req, res, next) => shops[req.hostname]?.(req, res, next), serve);
      app.get('/tenants', requirePayment({ ...sold, payTo: ownerOf }), serve);
      app.get('/models', requirePayment({ ...sold, price: priceOf }), serve);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    [isBroken, runs] = [true, 0];
  });

  const held = (wallet: string) => fixture.sandbox.tokenBalance(wallet, fixture.sandbox.tokens[0]?.mint ?? '');

  /** Asks by `Host`, as a proxy passes requests on; `fetch` writes its own. */
  async function get(path: string, headers: Readonly<Record<string, string>>) {
    const asking = request(`${url}${path}`, { headers: { Host: 'one.example', ...headers } });
    const [answer] = await once(asking.end(), 'response');
    return { status: answer.statusCode, terms: answer.headers['payment-required'], body: await text(answer) };
  }

  async function sign(path: string, headers: Readonly<Record<string, string>>) {
    const { terms } = await get(path, headers);
    const [first] = decodePaymentRequiredHeader(terms).accepts;
    return (await signTerms(fixture, first as PaymentRequirements)).v2;
  }

  /** What somebody has paid for a request that fails: it is good for that request again. */
  async function payFor(path: string, headers: Readonly<Record<string, string>>) {
    const v2 = await sign(path, headers);
    expect((await get(path, { ...headers, ...v2 })).status).toBe(503);
    isBroken = false;
    return v2;
  }

  test.each([
    ['on the same path at another address', '/report', { Host: 'news.example' }, { Host: 'gold.example' }],
    ['on the same path of another host', '/report', { Host: 'one.example' }, { Host: 'two.example' }],
    ['of a seller whom a header names', '/tenants', { 'X-Shop': 'mallory' }, { 'X-Shop': 'honest' }],
    ['at a price that a header makes', '/models', { 'X-Model': 'small' }, { 'X-Model': 'large' }],
  ] as const)('opens nothing %s, and is good where it was paid', async (_where, path, cheap, dear) => {
    const before = held(fixture.payTo) + held(mallory);
    const payment = await payFor(path, cheap);
    const stolen = await get(path, { ...dear, ...payment });
    expect([stolen.status, runs]).toEqual([402, 1]);
    const own = await get(path, { ...cheap, ...payment });
    expect([own.status, own.body, runs]).toEqual([200, expect.stringContaining('the report of'), 2]);
    expect(held(fixture.payTo) + held(mallory) - before).toBe(CENT);
  });
});
