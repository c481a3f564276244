import type { NextFunction, Request, Response as ServerAnswer } from 'express';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { receiptOf, signPayment } from '../../helpers/transactions/payments.js';

describe.each(DAILY_EXPRESSES)('two payment gates before one handler, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let faults: string[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    const options = { facilitator, payTo, price: '$0.01' };
    const gate = requirePayment(options);
    const streaming = requirePayment({ ...options, settle: 'before' });
    const choice = requirePayment({ ...options, price: (req: Request) => (req.query['a'] === '1' ? '$0.01' : '$2') });
    const member = anyOf(requireTier({ facilitator }), gate);
    const pairs = {
      same: [gate, gate],
      alike: [gate, requirePayment({ ...options, description: 'again' })],
      streams: [streaming, streaming],
      listed: [gate, requirePayment({ ...options, price: ['0.5 USDT', '$0.01'] })],
      asked: [gate, choice],
      members: [member, member],
      map: [paywall({ '*': '$0.01' }, { facilitator, payTo }), gate],
      dearer: [gate, requirePayment({ ...options, price: '$0.02' })],
      elsewhere: [gate, requirePayment({ ...options, payTo: fixture.feePayer.publicKey.toBase58() })],
      sooner: [gate, streaming],
      later: [streaming, gate],
    };
    const dearer = requirePayment({
      ...options,
      price: (req: Request) => (req.url.startsWith('/dear') ? '$2' : '$0.01'),
    });
    url = await fixture.serve((app) => {
      for (const [name, [first, second]] of Object.entries(pairs)) {
        if (first === undefined || second === undefined) throw new Error('two gates');
        app.use(`/${name}`, first);
        app.get(`/${name}/report`, second, (req, res) => res.json({ payer: req.payment?.payer }));
      }
      app.get('/moved', dearer, (req, _res, next) => {
        req.url = '/dear';
        next();
      });
      app.get('/dear', dearer, (_req, res) => void res.send('dear goods'));
      app.use((error: Error, _req: Request, res: ServerAnswer, _next: NextFunction) => {
        faults.push(error.message);
        res.status(500).send('a fault');
      });
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    faults = [];
  });

  const balance = () => fixture.sandbox.tokenBalance(fixture.payTo, fixture.facilitator.tokens[0]?.mint ?? '');

  test.each(['same', 'alike', 'streams', 'listed', 'asked?a=1', 'members', 'map'])(
    'that ask for the same (%s) are paid once',
    async (pair) => {
      const [name, query = ''] = pair.split('?');
      const address = `${url}/${name}/report?${query}`;
      const { v2 } = await signPayment(fixture, address);
      const before = balance();
      const answer = await fetch(address, { headers: v2 });
      expect([answer.status, await answer.json()]).toEqual([200, { payer: fixture.payer.publicKey.toBase58() }]);
      expect(receiptOf(answer).success).toBe(true);
      expect(balance() - before).toBe(10_000n);
    },
  );

  test.each(['dearer', 'elsewhere', 'asked', 'sooner'])(
    'that ask for different things (%s) are a mistake that is told to the developer, and nothing is charged',
    async (name) => {
      const address = `${url}/${name}/report`;
      const { v2 } = await signPayment(fixture, address);
      const before = balance();
      expect((await fetch(address, { headers: v2 })).status).toBe(500);
      expect(faults).toEqual([
        expect.stringMatching(/^requirePayment: GET .*\/report stands behind two payment gates/),
      ]);
      expect(balance()).toBe(before);
    },
  );

  test('of which the first takes the money first leave the answer owed: it can be asked for again', async () => {
    const address = `${url}/later/report`;
    const { v2 } = await signPayment(fixture, address);
    const before = balance();
    expect((await fetch(address, { headers: v2 })).status).toBe(500);
    expect((await fetch(address, { headers: v2 })).status).toBe(500);
    expect(balance() - before).toBe(10_000n);
    expect(faults).toHaveLength(2);
  });

  test('of which one is met twice, as another address: what was paid at the cheap one opens no dear one', async () => {
    const { v2 } = await signPayment(fixture, `${url}/moved`);
    const before = balance();
    const response = await fetch(`${url}/moved`, { headers: v2 });

    expect([response.status, await response.text()]).toEqual([500, 'a fault']);
    expect(faults[0]).toContain('stands behind two payment gates that ask for different things');
    expect(balance()).toBe(before);
  });
});
