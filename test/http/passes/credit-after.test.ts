import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';
import { walletKeyOf } from '../../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;
const SERVED = { status: 200, left: '0 USDC' };

describe('credit that was left before its price moved to after the handler', () => {
  let fixture: TollFixture;
  let url: string;
  let isMoved: boolean;
  let failures: number;
  let runs: number;
  let looks: string[];
  let paid: bigint;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const real = fixture.facilitatorWith({ storage: await openStorage('memory:') });
    const facilitator: Facilitator = { ...real, passes: watched(real.passes) };
    url = await fixture.serve((app) => {
      const gated = { facilitator, payTo: fixture.payTo, price: '$0.01' } as const;
      const [before, after] = [requirePayment({ ...gated, settle: 'before' }), requirePayment(gated)];
      const refusing = requirePayment({ ...gated, compensate: false });
      app.get('/report', (req, res, next) => (isMoved ? after : before)(req, res, next), handle);
      app.get('/other', after, handle);
      app.get('/not-taken', (req, res, next) => (isMoved ? refusing : before)(req, res, next), handle);
      function handle(_req: unknown, res: { status(code: number): { send(body: string): unknown } }): void {
        runs += 1;
        res.status(runs > failures ? 200 : 503).send('it');
      }
    });
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    [isMoved, failures, runs, looks, paid] = [false, 1, 0, [], received()];
  });

  /** Notes what is asked of the passes. */
  function watched(passes: Facilitator['passes']): Facilitator['passes'] {
    return new Proxy(passes, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        looks.push(String(name));
        return method.bind(target);
      },
    });
  }

  const received = () => fixture.sandbox.tokenBalance(fixture.payTo, USDC);
  const get = (path: string, headers: PaymentHeaders = {}) => fetch(url + path, { headers });

  async function failedBefore(path: string) {
    const { v2 } = await signPayment(fixture, url + path);
    const failed = await get(path, v2);
    expect(failed.status).toBe(503);
    isMoved = true;
    return { v2, token: { 'access-pass': failed.headers.get('access-pass') ?? '' } };
  }

  test('is taken once by its token, and costs nothing more', async () => {
    const { v2, token } = await failedBefore('/report');
    expect(await passAnswer(await get('/report', token))).toEqual(SERVED);
    expect(await passAnswer(await get('/report', token))).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect((await get('/report', v2)).status).toBe(402);
    expect([runs, received() - paid]).toEqual([2, PRICE]);
  });

  test('is taken by a sign-in of its wallet, which is offered to who shows a token that is good for nothing', async () => {
    await failedBefore('/report');
    const wallet = walletKeyOf(fixture.payer.secretKey.subarray(0, 32));
    const proof = await signIn(wallet, `${url}/report`, { headers: { 'access-pass': 'lost' } });
    expect(await passAnswer(await get('/report', proof))).toEqual(SERVED);
    expect(received() - paid).toBe(PRICE);
  });

  test('is left where the request that it pays fails, by its token and for its payment', async () => {
    failures = 3;
    const { v2, token } = await failedBefore('/report');
    expect((await get('/report', token)).status).toBe(503);
    expect((await get('/report', v2)).status).toBe(503);
    expect(await passAnswer(await get('/report', token))).toEqual(SERVED);
    expect((await get('/report', v2)).status).toBe(402);
    expect([runs, received() - paid]).toEqual([4, PRICE]);
  });

  test('is taken for its own payment, and is not there for its token then', async () => {
    const { v2, token } = await failedBefore('/report');
    expect((await get('/report', v2)).status).toBe(200);
    expect(await passAnswer(await get('/report', token))).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect([runs, received() - paid]).toEqual([2, PRICE]);
  });

  test('covers no other route, and none that compensates nobody', async () => {
    const { token } = await failedBefore('/report');
    expect(await passAnswer(await get('/other', token))).toMatchObject({ status: 402, code: 'pass_of_another_route' });
    [isMoved, runs] = [false, 0];
    const { token: other } = await failedBefore('/not-taken');
    expect((await get('/not-taken', other)).status).toBe(402);
    expect(runs).toBe(1);
  });

  test('costs those who show none no look at the passes, paid or not', async () => {
    [failures, isMoved] = [0, true];
    const { v2 } = await signPayment(fixture, `${url}/report`);
    expect((await get('/report')).status).toBe(402);
    expect((await get('/report', v2)).status).toBe(200);
    expect(looks).toEqual([]);
  });
});
