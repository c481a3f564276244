import type { Request, Response } from 'express';
import { passOf } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { payingFetch, signingFetch } from '../../helpers/http/official-clients.js';
import { buyPass, passAnswer } from '../../helpers/http/passes.js';
import { askTerms, type PaymentHeaders, signPayment, type Wallet } from '../../helpers/transactions/payments.js';

const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;
const PRICE = 500_000n;

describe.each(DAILY_EXPRESSES)('a pass that can be renewed, %s', (_name, express) => {
  let fixture: TollFixture;
  let storage: Storage;
  let wallet: Wallet['payer'];
  let url: string;
  let mint: string;
  /** How far the clock of the storage is behind. */
  let behindMs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture();
    storage = await openStorage('memory:', { now: () => Date.now() - behindMs });
    const facilitator = fixture.facilitatorWith({ storage });
    mint = facilitator.tokens.find(({ symbol }) => symbol === 'USDC')?.mint ?? '';
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.50' };
    url = await fixture.serve((app) => {
      const month = requirePayment({ ...sold, pass: { for: '30d', renew: true, cookie: true } });
      app.get('/month', month, (req, res: Response) => void res.json(passOf(req) ?? {}));
      const failing = requirePayment({ ...sold, settle: 'before', pass: { for: '30d', renew: { grace: '12h' } } });
      app.get('/failing', failing, (_req, res: Response) => void res.status(503).send('not now'));
    }, express);
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });
  beforeEach(async () => {
    behindMs = 0;
    wallet = await fixture.sandbox.createWallet({ usdc: '5' });
  });

  const payer = (): Wallet => ({ sandbox: fixture.sandbox, payer: wallet });
  const paidSoFar = () => 5_000_000n - fixture.sandbox.tokenBalance(wallet.publicKey.toBase58(), mint);
  const passes = () => storage.passes.list(wallet.publicKey.toBase58());
  const get = async (headers: PaymentHeaders) => passAnswer(await fetch(`${url}/month`, { headers }));
  const endsOf = ({ headers }: globalThis.Response) => ({
    ends: Date.parse(headers.get('access-pass-ends') ?? ''),
    until: Date.parse(headers.get('access-pass-renewable-until') ?? ''),
  });

  test('is told of in the 402 with the time in which it can be renewed', async () => {
    const { accepts } = await askTerms(`${url}/month`);
    expect(accepts[0]?.extra).toMatchObject({
      buys: 'any number of requests within 30 days, renewed by paying again until 3 days after its end',
    });
    const { accepts: others } = await askTerms(`${url}/failing`);
    expect(others[0]?.extra).toMatchObject({ buys: expect.stringMatching(/until 12 hours after its end$/) });
  });

  test('goes on from its end when it is paid again, and stays the same with the same token and cookie', async () => {
    const first = await buyPass(payer(), `${url}/month`);
    const [pass] = await passes();
    const told = endsOf(first.paid);
    expect(told).toEqual({ ends: pass!.openedAt + MONTH_MS, until: pass!.openedAt + MONTH_MS + 3 * DAY_MS });
    expect(first.paid.headers.get('set-cookie')).toMatch(/Max-Age=31536000;/);

    const again = await buyPass(payer(), `${url}/month`);
    expect(endsOf(again.paid)).toEqual({ ends: told.ends + MONTH_MS, until: told.until + MONTH_MS });
    expect((await passes()).map(({ id }) => id)).toEqual([pass!.id]);
    const shown = await fetch(`${url}/month`, { headers: first.token });
    expect([shown.status, endsOf(shown)]).toEqual([200, endsOf(again.paid)]);
    expect(await shown.json()).toMatchObject({
      id: pass!.id,
      endsAt: told.ends + MONTH_MS,
      renewableUntil: told.until + MONTH_MS,
    });
    expect(paidSoFar()).toBe(2n * PRICE);
  });

  test('covers the request of a payment that would lie more than its time ahead, and nobody is charged', async () => {
    await buyPass(payer(), `${url}/month`);
    const { paid } = await buyPass(payer(), `${url}/month`);
    const { v2 } = await signPayment(payer(), `${url}/month`);
    const covered = await fetch(`${url}/month`, { headers: v2 });
    expect([covered.status, covered.headers.get('payment-response'), endsOf(covered)]).toEqual([
      200,
      null,
      endsOf(paid),
    ]);
    expect(paidSoFar()).toBe(2n * PRICE);
  });

  test('is not shown by a payment that was taken from the chain, where it is forgotten that it was made', async () => {
    await buyPass(payer(), `${url}/month`);
    const { payment, paid } = await buyPass(payer(), `${url}/month`);
    const forgetful = fixture.facilitatorWith({ storage: { ...storage, ledger: createMemoryLedger() } });
    const sold = { facilitator: forgetful, payTo: fixture.payTo, price: '$0.50', pass: { for: '30d', renew: true } };
    const other = await fixture.serve((app) => {
      const send = (_req: Request, res: Response) => void res.send('good');
      app.get('/month', requirePayment({ ...sold, settle: 'before' }), send);
    }, express);
    const taken = await fetch(`${other}/month`, { headers: payment.v2 });
    expect([taken.ok, taken.headers.get('access-pass')]).toEqual([false, null]);
    expect((await passes()).map(({ endsAt }) => endsAt)).toEqual([endsOf(paid).until]);
  });

  test('is renewed by the payment of before where its response was lost, and once', async () => {
    const { v2 } = await signPayment(payer(), `${url}/failing`);
    const failed = await fetch(`${url}/failing`, { headers: v2 });
    const again = await fetch(`${url}/failing`, { headers: v2 });
    expect([failed.status, again.status, endsOf(again)]).toEqual([503, 503, endsOf(failed)]);
    const [pass] = await passes();
    expect(pass?.endsAt).toBe(pass!.openedAt + MONTH_MS + DAY_MS / 2);
  });

  test('covers in the grace, is renewed from its end there, and begins anew behind it', async () => {
    behindMs = MONTH_MS + DAY_MS;
    const { token } = await buyPass(payer(), `${url}/month`);
    const [pass] = await passes();
    behindMs = 0;
    const inGrace = await fetch(`${url}/month`, { headers: token });
    expect([inGrace.status, inGrace.headers.get('access-pass-remaining')]).toEqual([200, '0']);
    const { paid } = await buyPass(payer(), `${url}/month`);
    expect(endsOf(paid).ends).toBe(pass!.openedAt + 2 * MONTH_MS);
    expect(Number(paid.headers.get('access-pass-remaining'))).toBeLessThanOrEqual((29 * DAY_MS) / 1_000);
    expect(await get(token)).toMatchObject({ status: 200 });

    behindMs = -(MONTH_MS + 3 * DAY_MS);
    expect(await get(token)).toMatchObject({ status: 402, code: 'pass_ended' });
    await buyPass(payer(), `${url}/month`);
    expect(await passes()).toHaveLength(2);
  });

  test('is used by the official client that signs in, and renewed by the one that only pays', async () => {
    const setup = { wallet, rpcUrl: fixture.sandbox.rpcUrl };
    const [signing, paying] = [await signingFetch(setup), await payingFetch(setup)];
    const first = await signing(`${url}/month`);
    const second = await signing(`${url}/month`);
    expect([paidSoFar(), endsOf(second)]).toEqual([PRICE, endsOf(first)]);
    expect(second.headers.get('set-cookie')).toMatch(/Max-Age=31536000;/);
    const renewed = await paying(`${url}/month`);
    expect([paidSoFar(), endsOf(renewed).ends]).toEqual([2n * PRICE, endsOf(first).ends + MONTH_MS]);
    expect([(await paying(`${url}/month`)).status, paidSoFar()]).toEqual([200, 2n * PRICE]);
  });
});
