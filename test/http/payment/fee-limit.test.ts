import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { watchFees } from '../../../src/server/upkeep/watch-fees.js';
import { decodeTransaction } from '../../../src/solana/transaction/transaction.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openSqlite } from '../../../src/storage/sql/sqlite/sqlite-database.js';
import type { Storage } from '../../../src/storage/storage.js';
import { type ServiceResponse, signCreated, useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { newProjectId, openPayoutFixture } from '../../helpers/fixtures/payout-fixture.js';
import { testClock } from '../../helpers/test-clock.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { type SignedPayment, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const HOUR_MS = 3_600_000;
/** Two payments of some 10,000 lamports fit, and a third does not. */
const LIMIT = 25_000;

const { now, advance } = testClock(Date.now());

describe('as much was paid for network fees as may be in an hour', () => {
  const ledger = createMemoryLedger({ now });
  const fixture = useNativeFixture({ maxFeeLamportsPerHour: LIMIT, now, ledger });
  const warnings: object[] = [];
  let storage: Storage;
  let paid: string;
  let runs = 0;
  /** Offered while there was room, and brought when there is none any more. */
  let late: readonly SignedPayment[];
  let lateNative: readonly [string, Uint8Array];
  /** Needs no fee of ours. */
  let selfPaid: readonly [string, Uint8Array];
  let endsAt: number;

  const feePayer = () => fixture().feePayer.publicKey.toBase58();
  const spent = () => [fixture().sandbox.balance(feePayer()), fixture().sandbox.calls['sendTransaction'] ?? 0];
  const pay = async ({ v2 }: SignedPayment) => read(await fetch(paid, { headers: v2 }));
  const ask = async (path: string) => read(await fetch(new URL(path, paid)));

  async function read(answer: Response): Promise<ServiceResponse> {
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text.startsWith('{') ? JSON.parse(text) : {} };
  }

  function expectRefused({ status, headers, body }: ServiceResponse): void {
    expect([status, body]).toEqual([503, expect.objectContaining({ code: 'fee_limit_reached', retryable: true })]);
    expect(Number(headers.get('retry-after'))).toBe((endsAt - now()) / 1_000);
  }

  beforeAll(async () => {
    storage = await openStorage('memory:', { now });
    const { facilitator, payTo, payer, sandbox, serve, create, draft, settle } = fixture();
    const logger = { info() {}, error() {}, warn: (fields: object) => void warnings.push(fields) };
    watchFees(facilitator, { counters: storage.counters, events: storage.gateway.events, logger, now });
    const origin = await serve((app) => {
      app.get('/paid', requirePayment({ facilitator, payTo, price: '$0.01' }), (_req, res) => {
        runs += 1;
        res.send('delivered');
      });
    });
    paid = `${origin}/paid`;
    // Nobody may use more than a fifth: each pays for one.
    const sign = async () => signPayment({ sandbox, payer: await sandbox.createWallet({ usdc: '1' }) }, paid);
    const early = await sign();
    late = [await sign(), await sign()];
    const [native, other] = [await create(), await create()];
    lateNative = [other.payment_id, signCreated(other, payer)];
    const rich = await sandbox.createWallet({ sol: '1', usdc: '1' });
    const own = await create({ payer: rich.publicKey.toBase58() });
    selfPaid = [own.payment_id, buildDraft(await draft(own, rich, rich))];

    endsAt = now() + HOUR_MS;
    expect(await settle(native.payment_id, signCreated(native, payer))).toMatchObject({ status: 200 });
    await advance(1_000);
    expect(await pay(early)).toMatchObject({ status: 200 });
    expect(runs).toBe(1);
  });
  afterAll(() => storage.close());

  test('nothing more is signed, held or charged, and no handler works for nothing', async () => {
    const before = spent();
    const { accepted, transaction, ...first } = late[0]!;
    expectRefused(await pay({ accepted, transaction, ...first }));
    expectRefused(await fixture().settle(...lateNative));
    const payload = { transaction: Buffer.from(transaction).toString('base64') };
    const paymentPayload = { x402Version: 2, accepted, payload };
    const body = { x402Version: 2, paymentPayload, paymentRequirements: accepted };
    expectRefused(await fixture().post('/settle', body));
    expectRefused(await fixture().post('/verify', body));

    expect([spent(), runs]).toEqual([before, 1]);
    for (const bytes of [transaction, lateNative[1]]) {
      const decoded = decodeTransaction(bytes);
      expect(await ledger.find(decoded.ok ? decoded.transaction.messageHash : '')).toBeUndefined();
    }
  });

  test('nothing is offered, and health, readiness and the log say why', async () => {
    expectRefused(await ask('/paid'));
    expect((await fixture().get('/supported')).body).toMatchObject({
      kinds: [],
      signers: { 'solana:*': [feePayer(), expect.any(String)] },
    });
    expect((await fixture().get('/health')).body).toMatchObject({
      status: 'degraded',
      networks: { 'solana-devnet': 'down' },
      facilitation: { status: 'disabled' },
    });
    // Who pays his own fee is served, and no other instance could do more.
    expect(await fixture().get('/readyz')).toMatchObject({
      status: 200,
      body: { status: 'ready', checks: { fee_payer: 'limit_reached' } },
    });
  });

  test('it is told once in the hour', async () => {
    const data = { wallet: feePayer(), lamports: String(LIMIT), until: new Date(endsAt).toISOString() };
    expect(warnings).toEqual([data]);
    const statement = { name: 'test_events', text: 'select owner, type, data from tollhouse_event' };
    const told = () => storage.database.query(statement);
    await until(async () => (await told()).length > 0);
    expect(await told()).toEqual([{ owner: feePayer(), type: 'wallet.fee_limit_reached', data: JSON.stringify(data) }]);
  });

  test('who pays the network fee is served as ever', async () => {
    const before = fixture().sandbox.balance(feePayer());
    expect(await fixture().settle(...selfPaid)).toMatchObject({ status: 200, body: { success: true } });
    expect(fixture().sandbox.balance(feePayer())).toBe(before);
  });

  test('when the hour is over, what was refused is taken', async () => {
    await advance(endsAt - now() + 1);
    expect(await pay(late[0]!)).toMatchObject({ status: 200 });
    expect(await ask('/paid')).toMatchObject({ status: 402 });
    expect((await fixture().get('/health')).body).toMatchObject({ status: 'healthy' });
    expect(await pay(late[1]!)).toMatchObject({ status: 200 });
    expect(runs).toBe(3);
    expect(warnings).toHaveLength(1);
  });
});

describe('payouts', () => {
  test('wait as well, and are made when the hour is over', async () => {
    const fixture = await openPayoutFixture();
    const database = await openSqlite(':memory:');
    const options = { splitKeypair: fixture.split, maxFeeLamportsPerHour: 15_000n, now: fixture.now };
    const instance = fixture.instance(database, () => fixture.facilitatorWith(options).payouts!);
    const [projectId, recipient] = [newProjectId(), await fixture.newRecipient()];
    const owe = () => fixture.land(database, projectId, [{ recipient, amount: 100n }]);
    try {
      await owe();
      await instance.payouts.request(projectId);
      await until(() => fixture.held(recipient) === 100n);
      await owe();
      const signed = fixture.sandbox.balance(fixture.feePayer.publicKey.toBase58());
      await instance.payouts.request(projectId);
      await until(() => instance.faults.length > 0);
      expect(instance.faults).toMatchObject([{ code: 'fee_limit_reached' }]);
      expect(fixture.sandbox.balance(fixture.feePayer.publicKey.toBase58())).toBe(signed);

      await fixture.advance(HOUR_MS + 1);
      await until(async () => {
        await instance.payouts.run();
        return fixture.held(recipient) === 200n;
      });
    } finally {
      await instance.payouts.close();
      await database.close();
      await fixture.close();
    }
  });
});
