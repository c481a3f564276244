import { request } from 'node:http';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const PRICE = 10_000n;

describe('one response of a route that sells passes as well, and whose handler comes before the money', () => {
  let fixture: TollFixture;
  let facilitator: Facilitator;
  let url: string;
  let runs = 0;
  /** Which runs of the handler fail. */
  let failing: readonly number[] = [];
  let isKept = true;
  let received = 0n;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const real = fixture.facilitatorWith({ storage: await openStorage('memory:') });
    const { idempotency } = real;
    // A store that keeps no response: what has landed and was not delivered is run again.
    const forgetful = {
      ...idempotency,
      put: async (...it: Parameters<typeof idempotency.put>) => isKept && idempotency.put(...it),
    };
    facilitator = { ...real, idempotency: forgetful };
    const price = ['$0.01', { price: '$1', pass: { uses: 100 } }] as const;
    url = await fixture.serve((app) => {
      app.get('/report', requirePayment({ facilitator, payTo: fixture.payTo, price }), (_req, res) => {
        runs += 1;
        res.status(failing.includes(runs) ? 503 : 200).send(`run ${runs}`);
      });
    });
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    [runs, failing, isKept, received] = [0, [], true, earned()];
  });

  const earned = () => fixture.sandbox.tokenBalance(fixture.payTo, fixture.facilitator.tokens[0]!.mint);
  const get = (headers: PaymentHeaders) => fetch(`${url}/report`, { headers });
  const passes = () => facilitator.passes.list(payer());
  const payer = () => fixture.payer.publicKey.toBase58();

  /** Pays, and is gone by the time the money lands. */
  async function payAndLeave(headers: PaymentHeaders): Promise<void> {
    const { sendTransaction = 0 } = fixture.sandbox.calls;
    fixture.sandbox.pauseSlots();
    const sent = request(`${url}/report`, { headers, agent: false });
    const left = new Promise((resolve) => sent.on('error', () => undefined).once('close', resolve));
    sent.end();
    await until(() => (fixture.sandbox.calls.sendTransaction ?? 0) > sendTransaction);
    sent.destroy();
    await left;
    fixture.sandbox.resumeSlots();
    await until(() => earned() - received === PRICE);
  }

  async function settled(headers: PaymentHeaders): Promise<Response> {
    let answer = await get(headers);
    for (; answer.status === 409; answer = await get(headers)) await answer.arrayBuffer();
    return answer;
  }

  test('leaves nothing to its payer where it fails, as nothing was paid, and is paid once it succeeds', async () => {
    failing = [1];
    const { v2 } = await signPayment(fixture, `${url}/report`);
    const failed = await get(v2);
    expect([failed.status, failed.headers.get('access-pass')]).toEqual([503, null]);
    expect([await passes(), earned() - received]).toEqual([[], 0n]);
    expect((await get(v2)).status).toBe(200);
    expect([await passes(), earned() - received]).toEqual([[], PRICE]);
  });

  test.each([
    ['v2', 1],
    ['v1', 0],
  ] as const)(
    'that had landed, and fails as it comes again, as %s leaves %d credits to its payer',
    async (version, count) => {
      [failing, isKept] = [[2], false];
      const before = await passes();
      const { [version]: headers } = await signPayment(fixture, `${url}/report`);
      await payAndLeave(headers);
      const failed = await settled(headers);
      expect([failed.status, runs]).toEqual([503, 2]);
      expect(await passes()).toHaveLength(before.length + count);
      const again = await settled(headers);
      expect([again.status, await again.text(), earned() - received]).toEqual([200, 'run 3', PRICE]);
    },
  );
});
