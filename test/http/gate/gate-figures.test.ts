import type { RequestHandler } from 'express';
import { createMetrics, type Metrics } from '../../../src/http/service/metrics.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { readFigures } from '../../helpers/http/figures.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

type Headers = Readonly<Record<string, string>>;

describe('what becomes of a request at a gate is counted', () => {
  let fixture: TollFixture;
  let metrics: Metrics;
  let url: string;
  let reached = (): void => {};

  beforeAll(async () => {
    fixture = await openTollFixture();
    const facilitator = fixture.facilitatorWith({});
    metrics = createMetrics(facilitator);
    await metrics.expose();
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.01' } as const;
    const answer: RequestHandler = (req, res) => void res.status(req.query.fails === undefined ? 200 : 500).end('it');
    url = await fixture.serve((app) => {
      app.get('/after', requirePayment(sold), answer);
      app.get('/before', requirePayment({ ...sold, settle: 'before' }), answer);
      app.get('/pack', requirePayment({ ...sold, pass: { uses: 3 } }), answer);
      app.get('/hangs', requirePayment(sold), () => reached());
    });
  });
  afterAll(() => fixture.close());

  const outcomesOf = async (route: string) => {
    const figures = readFigures((await metrics.expose())!.text);
    const rows = figures.rows('tollhouse_gate_requests_total').filter(({ labels }) => labels.route === route);
    return Object.fromEntries(rows.map(({ labels, value }) => [labels.outcome, value]));
  };
  async function get(path: string, headers: Headers = {}): Promise<Response> {
    const response = await fetch(url + path, { headers });
    await response.text();
    return response;
  }
  const paymentFor = async (path: string) => (await signPayment(fixture, url + path)).v2;
  /** How the requests to a route came out, once all of them have. */
  const expectOutcomes = async (route: string, expected: Readonly<Record<string, number>>) => {
    const count = (some: Readonly<Record<string, number>>) => Object.values(some).reduce((sum, it) => sum + it, 0);
    await until(async () => count(await outcomesOf(route)) >= count(expected));
    expect(await outcomesOf(route)).toEqual(expected);
  };

  test('as paid, had again, not charged, refused and told the price', async () => {
    const v2 = await paymentFor('/after');
    expect((await get('/after', v2)).status).toBe(200);
    expect((await get('/after', v2)).status).toBe(200);
    expect((await get('/after?fails', await paymentFor('/after?fails'))).status).toBe(500);
    expect((await get('/after', { 'payment-signature': 'garbage' })).status).toBe(400);
    await expectOutcomes('/after', { challenged: 2, paid: 1, again: 1, uncharged: 1, refused: 1 });
  });

  test('as paid where the money comes first, whatever the handler makes of it', async () => {
    expect((await get('/before', await paymentFor('/before'))).status).toBe(200);
    await expectOutcomes('/before', { challenged: 1, paid: 1 });
  });

  test('as covered by a pass, or not charged where its use is given back', async () => {
    const bought = await get('/pack', await paymentFor('/pack'));
    const pass = { 'access-pass': bought.headers.get('access-pass') ?? '' };
    expect((await get('/pack', pass)).status).toBe(200);
    expect((await get('/pack?fails', pass)).status).toBe(500);
    await expectOutcomes('/pack', { challenged: 1, paid: 1, pass: 1, uncharged: 1 });
  });

  test('as aborted where the client is gone', async () => {
    const v2 = await paymentFor('/hangs');
    const leaving = new AbortController();
    const isReached = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const asked = fetch(`${url}/hangs`, { headers: v2, signal: leaving.signal }).catch(() => 'left');
    await isReached;
    leaving.abort();
    expect(await asked).toBe('left');
    await expectOutcomes('/hangs', { challenged: 1, aborted: 1 });
  });
});
