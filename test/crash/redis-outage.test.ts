import { readConfiguration } from '../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../src/server/start-server.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { HAS_REDIS, type RedisServer, startRedis } from '../helpers/storage/redis.js';
import { type PaymentHeaders, receiptOf, signPayment, stolenFrom } from '../helpers/transactions/payments.js';
import { walletKey } from '../helpers/transactions/wallet-key.js';
import { until } from '../helpers/until.js';

const REQUESTS_A_MINUTE = 60;
/** One dollar. */
const FUNDS = 1_000_000n;
const alice = walletKey('alice');

/** Where there is no `redis-server`, nothing of this is shown. */
(HAS_REDIS ? describe : describe.skip)('when the Redis that limits are counted in is lost', () => {
  const folder = testFolder();
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  let redis: RedisServer;
  let server: RunningServer;

  beforeAll(async () => {
    redis = await startRedis();
    const env = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      DATABASE_URL: `sqlite:${folder.newPath('db')}`,
      REDIS_URL: redis.url,
    };
    server = await startServer(readConfiguration(env));
  });
  afterAll(async () => {
    await server.close();
    await redis.stop();
    warn.mockRestore();
  });

  async function statusOf(path: string, init: RequestInit = {}): Promise<number> {
    const answer = await fetch(server.url + path, init);
    await answer.arrayBuffer();
    return answer.status;
  }

  async function post(path: string, body: object) {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
  }

  const newAttempt = async () => {
    const { body } = await post('/api/v1/auth/challenge', { wallet: alice.address });
    return { wallet: alice.address, nonce: body['nonce'], signature: alice.sign(String(body['message'])) };
  };

  test('limits let everything pass, payments and sign-ins go on, and no proof is good for anything more', async () => {
    const { chain } = server;
    const payer = await chain.sandbox!.createWallet({ usdc: '1' });
    const used = await newAttempt();
    expect((await post('/api/v1/auth/token', used)).status).toBe(200);
    const payment = await signPayment({ sandbox: chain.sandbox!, payer }, `${server.url}/demo`);
    const stolen = await stolenFrom(payment, `${server.url}/demo`);
    const pay = (headers: PaymentHeaders) => fetch(`${server.url}/demo`, { headers });
    await until(async () => (await statusOf('/nowhere')) === 429);

    await redis.stop();
    const statuses: number[] = [];
    for (let at = 0; at <= REQUESTS_A_MINUTE; at += 1) statuses.push(await statusOf('/nowhere'));
    expect(new Set(statuses)).toEqual(new Set([404]));
    expect(warn).toHaveBeenCalledWith(
      expect.stringContaining('rate limits cannot be counted and let everything pass'),
      expect.objectContaining({ code: 'TOLLHOUSE_LIMITS_OPEN' }),
    );
    const readiness = async () => {
      const ready = await fetch(`${server.url}/readyz`);
      return { status: ready.status, body: (await ready.json()) as { status: string; checks: { limits: string } } };
    };
    await until(async () => (await readiness()).body.checks.limits === 'unreachable');
    const checks = { counters: 'ok', limits: 'unreachable' };
    expect(await readiness()).toMatchObject({ status: 200, body: { status: 'ready', checks } });
    const [paid, again, thief] = [await pay(payment.v2), await pay(payment.v2), await pay(stolen.v2)];
    expect([paid.status, again.status, thief.status]).toEqual([200, 200, 402]);
    expect([paid, again].map((it) => it.headers.has('idempotency-replayed'))).toEqual([false, true]);
    expect(await again.text()).toBe(await paid.text());
    expect(receiptOf(again)).toEqual(receiptOf(paid));
    expect(await thief.json()).toMatchObject({ code: 'payment_already_used' });
    expect(chain.sandbox!.tokenBalance(payer.publicKey.toBase58(), payment.accepted.asset)).toBe(
      FUNDS - BigInt(payment.accepted.amount),
    );
    expect((await post('/api/v1/auth/token', used)).status).toBe(401);
    const fresh = await newAttempt();
    expect((await post('/api/v1/auth/token', fresh)).status).toBe(200);
    expect((await post('/api/v1/auth/token', fresh)).status).toBe(401);

    redis = await startRedis(Number(new URL(redis.url).port));
    await until(async () => (await statusOf('/nowhere')) === 429);
  });

  test('to a replica, readiness names what Redis refuses with, and what to do', async () => {
    const limits = async () => {
      const ready = (await (await fetch(`${server.url}/readyz`)).json()) as {
        readonly checks: { readonly limits: string };
        readonly parts: readonly { readonly part: string; readonly reason?: string }[];
      };
      return { check: ready.checks.limits, reason: ready.parts.find(({ part }) => part === 'limits')?.reason };
    };
    await redis.command('REPLICAOF', '127.0.0.1', '1');
    await until(async () => (await limits()).check === 'refused');
    expect((await limits()).reason).toBe(
      'Redis refuses: READONLY, so nobody is limited; it is a replica: name its primary in REDIS_URL, or make it one',
    );
    await redis.command('REPLICAOF', 'NO', 'ONE');
    await until(async () => (await limits()).check === 'ok');
  });
});
