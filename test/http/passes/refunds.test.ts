import { Keypair } from '@solana/web3.js';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import type { RefundOptions } from '../../../src/facilitator/refunds/refund-options.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { newClaim } from '../../contracts/ledger-samples.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { passAnswer } from '../../helpers/http/passes.js';
import { DAILY_DATABASES, type OwnDatabase } from '../../helpers/storage/both-databases.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;
const never = () => new Promise<never>(() => undefined);

describe.each(DAILY_DATABASES)('a refund, with %s', (_name, open) => {
  let fixture: TollFixture;
  let database: OwnDatabase;
  let storage: Storage;
  let keypair: Keypair;
  let facilitator: EmbeddedFacilitator;
  let url: string;
  let fails = true;
  let handling: Promise<unknown> | undefined;
  let begun = 0;

  beforeAll(async () => {
    [database, fixture] = await Promise.all([open(), openTollFixture()]);
    storage = await openStorage(database.url);
    keypair = await fixture.sandbox.createWallet({ usdc: '5' });
    facilitator = refunding();
    url = await fixture.serve((app) => {
      const gated = { facilitator, payTo: fixture.payTo, price: '$0.01', settle: 'before' } as const;
      const send = async (_req: unknown, res: { status(code: number): { send(text: string): unknown } }) => {
        begun += 1;
        await handling;
        res.status(fails ? 503 : 200).send('it');
      };
      app.get('/single', requirePayment(gated), send);
      app.get('/credit', requirePayment({ ...gated, pass: { credit: true, cost: '$0.004' } }), send);
      app.get('/pack', requirePayment({ ...gated, pass: { uses: 3 } }), send);
      app.get('/day', requirePayment({ ...gated, pass: { for: '24h' } }), send);
    });
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
    await database.stop();
  });
  beforeEach(() => {
    fails = true;
    handling = undefined;
  });

  function refunding(more: Partial<RefundOptions> = {}, own: Partial<Storage> = {}): EmbeddedFacilitator {
    return fixture.facilitatorWith({ storage: { ...storage, ...own }, refunds: { keypair, ...more } }, QUICK);
  }

  const held = (wallet = fixture.payer.publicKey.toBase58()) => fixture.sandbox.tokenBalance(wallet, USDC);
  const get = async (path: string, headers: Record<string, string>) => passAnswer(await fetch(url + path, { headers }));

  const endLeases = (name: string) =>
    storage.database.query({
      name: `test_end_refund_leases_${name}`,
      text: `update tollhouse_refund set lease_ends = 0 where state in ('planned', 'taken', 'broadcast')`,
    });
  /** Has what requests have taken so far be taken longer ago than any of them goes on. */
  const aMinuteLater = () =>
    storage.database.query({
      name: 'test_older_debits',
      text: 'update tollhouse_pass_debit set at = at - 60000',
    });

  /** Pays for a request that fails; answers its payment, and what shows what was left. */
  async function failed(path: string) {
    const { v2 } = await signPayment(fixture, url + path);
    const answer = await fetch(url + path, { headers: v2 });
    await answer.text();
    const [pass] = await storage.passes.list(fixture.payer.publicKey.toBase58());
    return { paymentId: pass?.paymentId ?? '', token: { 'access-pass': answer.headers.get('access-pass') ?? '' }, v2 };
  }

  test('is not made of what a project of the gateway was paid: its owner has the money', async () => {
    const payment = newClaim({ owner: fixture.payTo, projectId: 'prj_of_a_tenant' });
    await storage.ledger.claim(payment);
    await storage.ledger.recordOutcome(payment.id, payment.lease, { state: 'confirmed', slot: 1, signature: 'landed' });
    await expect(facilitator.refund(payment.id)).rejects.toMatchObject({
      code: 'nothing_to_refund',
      message: expect.stringContaining('paid to a project'),
    });
  });

  test.each([
    ['/single', PRICE],
    ['/credit', PRICE],
    ['/pack', PRICE],
  ])('pays the whole amount back and leaves nothing to be used, for %s', async (path, amount) => {
    const { paymentId, token, v2 } = await failed(path);
    const before = held();
    const told: unknown[] = [];
    const off = facilitator.on('payment.refunded', (it) => told.push(it));
    const refund = await facilitator.refund(paymentId);
    off();
    expect(refund).toMatchObject({ state: 'paid', amount, recipient: fixture.payer.publicKey.toBase58(), paymentId });
    expect(held() - before).toBe(amount);
    expect(told).toEqual([
      expect.objectContaining({ id: paymentId, refundId: refund.id, signature: refund.signature }),
    ]);
    fails = false;
    expect(await get(path, token)).toMatchObject({ status: 402, code: 'pass_used_up' });
    expect(await get(path, v2)).toMatchObject({ status: 402 });
    await expect(facilitator.refund(paymentId)).rejects.toMatchObject({
      code: 'nothing_to_refund',
      message: expect.stringMatching(
        new RegExp(`${amount} atomic units, was refunded at 20\\d\\d-.*Z by the transaction ${refund.signature}`),
      ),
    });
    const events = await storage.database.query({
      name: 'test_refund_events',
      text: `select data from tollhouse_event where type = 'payment.refunded' order by at`,
    });
    expect(events.map(({ data }) => JSON.parse(String(data)).refund_id)).toContain(refund.id);
  });

  test('pays what is left of credit of which some was used', async () => {
    const { paymentId, token } = await failed('/credit');
    fails = false;
    expect(await get('/credit', token)).toMatchObject({ status: 200 });
    expect(await facilitator.refund(paymentId)).toMatchObject({ state: 'paid', amount: 6_000n });
  });

  test('is refused where there is nothing to pay back, with the reason', async () => {
    const pack = await failed('/pack');
    fails = false;
    await get('/pack', pack.token);
    await aMinuteLater();
    await expect(facilitator.refund(pack.paymentId)).rejects.toMatchObject({
      code: 'nothing_to_refund',
      message: expect.stringContaining('2 of 3 uses'),
    });
    fails = true;
    const single = await failed('/single');
    fails = false;
    await get('/single', single.token);
    await aMinuteLater();
    await expect(facilitator.refund(single.paymentId)).rejects.toMatchObject({
      code: 'nothing_to_refund',
      message: expect.stringContaining('used up'),
    });
    const { paymentId } = await failed('/day');
    await expect(facilitator.refund(paymentId)).rejects.toMatchObject({ code: 'nothing_to_refund' });
    await expect(facilitator.refund('0'.repeat(64))).rejects.toMatchObject({ code: 'payment_not_found' });
    await expect(fixture.facilitator.refund(paymentId)).rejects.toMatchObject({ code: 'not_configured' });
  });

  test('is paid once, however many ask for it at once', async () => {
    const { paymentId } = await failed('/single');
    const before = held();
    const all = [facilitator, refunding(), facilitator, refunding()];
    const asked = await Promise.allSettled(all.map((it) => it.refund(paymentId)));
    const refunded = /was refunded at/;
    for (const it of asked) {
      if (it.status === 'fulfilled') expect(it.value.state).toBe('paid');
      else expect(it.reason).toMatchObject({ message: expect.stringMatching(refunded) });
    }
    expect([(await storage.refunds.ofPayment(paymentId)).length, held() - before]).toEqual([1, PRICE]);
  });

  test.each(['/single', '/pack'])(
    'waits for a request that holds what is left and may give it back, for %s',
    async (path) => {
      const { paymentId, token } = await failed(path);
      let end = (): void => undefined;
      handling = new Promise<void>((resolve) => {
        end = resolve;
      });
      begun = 0;
      const using = get(path, token);
      await until(() => begun === 1);
      await expect(facilitator.refund(paymentId)).rejects.toMatchObject({
        code: 'payment_in_progress',
        message: expect.stringMatching(/may be in use: a request has taken it.*Try again in a moment/),
      });
      end();
      expect(await using).toMatchObject({ status: 503 });
      await until(async () => {
        const { left, bought } = (await storage.passes.findByPayment(paymentId)) ?? {};
        return left === bought;
      });
      expect(await facilitator.refund(paymentId)).toMatchObject({ state: 'paid', amount: PRICE });
    },
  );

  test('is refused beyond its bounds, and paid within them', async () => {
    const { paymentId } = await failed('/single');
    await expect(refunding({ max: '$0.009' }).refund(paymentId)).rejects.toMatchObject({
      code: 'refund_limit_reached',
    });
    await expect(refunding({ max: '10 USDT' }).refund(paymentId)).rejects.toMatchObject({
      code: 'refund_limit_reached',
    });
    const sum = await storage.refunds.sumSince(fixture.sandbox.network, USDC, 0);
    const perDay = (amount: bigint) => refunding({ maxPerDay: { amount, asset: USDC } });
    await expect(perDay(sum + PRICE - 1n).refund(paymentId)).rejects.toMatchObject({
      code: 'refund_limit_reached',
      message: expect.stringContaining('24 hours'),
    });
    expect(await perDay(sum + PRICE).refund(paymentId)).toMatchObject({ state: 'paid' });
  });

  test('does not pass the bound of a day together with others', async () => {
    const payments = [await failed('/single'), await failed('/single'), await failed('/single')];
    const sum = await storage.refunds.sumSince(fixture.sandbox.network, USDC, 0);
    const two = refunding({ maxPerDay: { amount: sum + 2n * PRICE, asset: USDC } });
    const asked = await Promise.allSettled(payments.map(({ paymentId }) => two.refund(paymentId)));
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect((await storage.refunds.sumSince(fixture.sandbox.network, USDC, 0)) - sum).toBe(2n * PRICE);
  });

  test('from an empty wallet fails, and the credit is good again', async () => {
    const { paymentId, token } = await failed('/single');
    const empty = await fixture.sandbox.createWallet({ usdc: '0' });
    const poor = refunding({ keypair: empty });
    expect(await poor.refund(paymentId)).toMatchObject({ state: 'failed', reason: 'refund_wallet_short' });
    // Or it takes over what others have begun with their key, and fails it.
    await poor.close();
    fails = false;
    expect(await get('/single', token)).toEqual({ status: 200, left: '0 USDC', code: undefined });
  });

  test.each([
    ['planned', { recordTaken: never }],
    ['taken', { recordSigned: never }],
    ['sent', { recordPaid: never, release: never }],
  ] as const)('that was %s by a process that died is paid once by another', async (_when, dead) => {
    const { paymentId, token } = await failed('/single');
    const before = held();
    const dying = refunding({}, { refunds: { ...storage.refunds, ...dead, take: async () => [] } });
    void dying.refund(paymentId).catch(() => undefined);
    const stateOf = async () => (await storage.refunds.ofPayment(paymentId))[0]?.state;
    const reached = { recordTaken: 'planned', recordSigned: 'taken', recordPaid: 'broadcast' } as const;
    const [verb] = Object.keys(dead) as (keyof typeof reached)[];
    const passLeft = async () => (await storage.passes.findByPayment(paymentId))?.left;
    await until(async () => (await stateOf()) === reached[verb!] && (await passLeft()) === 0n);
    if (verb === 'recordPaid') await until(() => held() - before === PRICE);
    await endLeases(verb!);
    const other = refunding();
    expect(await other.refund(paymentId)).toMatchObject({ paymentId, state: 'paid' });
    expect(held() - before).toBe(PRICE);
    expect(await get('/single', token)).toMatchObject({ status: 402, code: 'pass_used_up' });
  });

  test('that was begun with another key than the one that pays now fails, and the credit is good again', async () => {
    const { paymentId, token } = await failed('/single');
    const former = await fixture.sandbox.createWallet({ usdc: '5' });
    const dead = { recordSigned: never, take: async () => [] };
    const dying = refunding({ keypair: former }, { refunds: { ...storage.refunds, ...dead } });
    void dying.refund(paymentId).catch(() => undefined);
    await until(async () => (await storage.refunds.ofPayment(paymentId))[0]?.state === 'taken');
    await endLeases('of_replaced');
    await until(async () => (await storage.refunds.ofPayment(paymentId))[0]?.state === 'failed');
    expect(await storage.refunds.ofPayment(paymentId)).toMatchObject([{ reason: 'refund_wallet_replaced' }]);
    fails = false;
    expect(await get('/single', token)).toMatchObject({ status: 200 });
  });

  test('takes a key that pays nothing else, and a storage', () => {
    const { feePayer } = fixture;
    expect(() => refunding({ keypair: feePayer })).toThrow('must be a key that pays nothing else');
    expect(() => fixture.facilitatorWith({ refunds: { keypair } })).toThrow('needs option "storage"');
    expect(() => refunding({ max: 'much' })).toThrow('refunds.max');
    expect(() => refunding({ maxPerDay: ['$1', '$2'] })).toThrow('names one token twice');
    expect(() => refunding({ keypair: Keypair.generate() })).not.toThrow();
  });
});
