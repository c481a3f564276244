import type { EmbeddedFacilitator } from '../../src/facilitator/create-facilitator.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { HAS_REDIS, type RedisServer, startRedis } from '../helpers/storage/redis.js';
import { askTerms, type SignedPayment, signTerms } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

/** Six payments of some 10,000 lamports fit, and a seventh does not. */
const LIMIT = 65_000n;

/** Where there is no `redis-server`, nothing of this is shown. */
(HAS_REDIS ? describe : describe.skip)('the Redis that network fees are counted in', () => {
  let fixture: TollFixture;
  let redis: RedisServer;
  let storage: Storage;
  let facilitator: EmbeddedFacilitator;
  let url: string;

  beforeAll(async () => {
    [fixture, redis] = await Promise.all([openTollFixture(), startRedis()]);
  });
  afterAll(async () => {
    await fixture.close();
    await redis.stop();
  });
  beforeEach(async () => {
    storage = await openStorage('memory:', { redisUrl: redis.url });
    facilitator = fixture.facilitatorWith({ storage, maxFeeLamportsPerHour: LIMIT });
    const { payTo, serve } = fixture;
    url = await serve((app) =>
      app.get('/', requirePayment({ facilitator, payTo, price: '$0.01' }), (_req, res) => void res.send('good')),
    );
  });
  afterEach(async () => {
    await facilitator.close();
    await storage.close();
  });

  /** Payments that were offered while there was room, each of a wallet of its own: nobody may use more than a fifth. */
  async function sign(many: number): Promise<SignedPayment[]> {
    const { sandbox } = fixture;
    const terms = (await askTerms(url)).accepts[0]!;
    const payers = await Promise.all(Array.from({ length: many }, () => sandbox.createWallet({ usdc: '1' })));
    return Promise.all(payers.map((payer) => signTerms({ sandbox, payer }, terms)));
  }

  async function statusesOf(payments: readonly SignedPayment[]): Promise<number[]> {
    const statuses: number[] = [];
    for (const { v2 } of payments) {
      const answer = await fetch(url, { headers: v2 });
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }
    return statuses;
  }

  const lamports = () => fixture.sandbox.balance(fixture.feePayer.publicKey.toBase58());

  async function restart(): Promise<void> {
    redis = await startRedis(Number(new URL(redis.url).port));
    const count = async () => storage.counters.increment('test:back', 1_000);
    await until(() =>
      count().then(
        () => true,
        () => false,
      ),
    );
  }

  test('comes back empty and goes for good, and no more is paid than the limit allows in the hour', async () => {
    const payments = await sign(9);
    const before = lamports();
    expect(await statusesOf(payments.slice(0, 3))).toEqual([200, 200, 200]);

    await redis.stop();
    await restart();
    expect(await statusesOf(payments.slice(3, 5))).toEqual([200, 200]);

    await redis.stop();
    expect(await statusesOf(payments.slice(5))).toEqual([200, 503, 503, 503]);
    expect(before - lamports()).toBeLessThanOrEqual(LIMIT);
    await restart();
  });

  test('is away from the first payment on, and as many are served as ever', async () => {
    const payments = await sign(7);
    await redis.stop();
    expect(await statusesOf(payments)).toEqual([200, 200, 200, 200, 200, 200, 503]);
    await restart();
  });
});
