import jwt from 'jsonwebtoken';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { signIn } from '../../helpers/http/sign-in.js';
import { type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';
import { walletKeyOf } from '../../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;
const DAY_MS = 86_400_000;
/** How often a payment's request is run. */
const RUNS = 3;

describe('a pass for a time whose paid request fails for good', () => {
  let fixture: TollFixture;
  let storage: Storage;
  let url: string;
  let fails = true;
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    storage = await openStorage('memory:');
    const facilitator = fixture.facilitatorWith({ storage });
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.01', settle: 'before', pass: { for: '24h' } } as const;
    url = await fixture.serve((app) => {
      app.get('/day', requirePayment(sold), (_req, res) => {
        runs += 1;
        res.status(fails ? 503 : 200).send('it');
      });
    });
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });
  beforeEach(() => {
    [fails, runs] = [true, 0];
  });

  const get = (headers: PaymentHeaders) => fetch(`${url}/day`, { headers });
  const tokenOf = (answer: Response) => ({ 'access-pass': answer.headers.get('access-pass') ?? '' });
  /** What its token says, but for the second in which that was made. */
  const claimsOf = (answer: Response) => {
    const claims = jwt.decode(tokenOf(answer)['access-pass']);
    if (claims === null || typeof claims === 'string') throw new Error('no token of a pass');
    const { iat: _made, ...said } = claims;
    return said;
  };
  const received = () => fixture.sandbox.tokenBalance(fixture.payTo, USDC);
  const passOf = async (payer: { readonly publicKey: { toBase58(): string } }) => {
    const [pass, ...more] = await storage.passes.list(payer.publicKey.toBase58());
    expect(more).toEqual([]);
    return pass;
  };

  /** Pays, and fails as often as a payment's request is run. */
  async function failed() {
    const payer = await fixture.sandbox.createWallet({ usdc: '1' });
    const before = Date.now();
    const { v2 } = await signPayment({ ...fixture, payer }, `${url}/day`);
    const first = await get(v2);
    const paidBy = Date.now();
    for (let run = 1; run < RUNS; run += 1) expect((await get(v2)).status).toBe(503);
    return { payer, v2, first, before, paidBy };
  }

  test('is open from its payment on, for the whole time, and is not paid for again', async () => {
    const paid = received();
    const { payer, v2, first, before, paidBy } = await failed();
    const pass = await passOf(payer);
    expect(pass?.openedAt).toBeGreaterThanOrEqual(before);
    expect(pass?.openedAt).toBeLessThanOrEqual(paidBy);
    expect(pass).toMatchObject({ kind: 'until', endsAt: (pass?.openedAt ?? 0) + DAY_MS });
    expect([first.status, await passAnswer(await get(tokenOf(first)))]).toMatchObject([503, { status: 503 }]);
    fails = false;
    expect((await get(tokenOf(first))).status).toBe(200);
    expect((await get(tokenOf(first))).status).toBe(200);
    expect([await passOf(payer), received() - paid]).toEqual([pass, PRICE]);
    expect(runs).toBe(RUNS + 3);
    expect((await get(v2)).status).toBe(402);
  });

  test('is entered by signing in', async () => {
    const { payer } = await failed();
    fails = false;
    const headers = await signIn(walletKeyOf(payer.secretKey.subarray(0, 32)), `${url}/day`);
    expect((await get(headers)).status).toBe(200);
  });

  test('has its token in the 402 of a payment that is tried no more, for whom no response has reached', async () => {
    const { v2, first } = await failed();
    fails = false;
    const refused = await get(v2);
    const body = (await refused.clone().json()) as { readonly detail: string };
    expect([refused.status, body]).toMatchObject([402, { code: 'payment_already_used' }]);
    expect(body.detail).toContain('do not pay again');
    expect(claimsOf(refused)).toEqual(claimsOf(first));
    expect(refused.headers.get('access-control-expose-headers')).toContain('Access-Pass');
    expect((await get(tokenOf(refused))).status).toBe(200);
  });
});
