import type { Keypair } from '@solana/web3.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { type CrashFixture, openCrashFixture, PRICE, type Seller } from '../helpers/crash/crash-fixture.js';
import { type Order, orderAtGate, send } from '../helpers/crash/orders.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { until } from '../helpers/until.js';

const LEASE_MS = 3_000;

/** A payment whose request has failed, and was killed when the payment came again. */
interface BrokenOff {
  readonly order: Order;
  /** The same request, by the token of the credit that is left. */
  readonly byToken: Order;
  readonly paymentId: string;
}

describe.each(['SQLite', 'Postgres'])('a payment that came again and whose run was killed, on %s', (store) => {
  const folder = testFolder();
  let fixture: CrashFixture;
  let server: PostgresServer | undefined;
  let url: string;
  let storage: Storage;
  let wallet: Keypair;
  let seller: Seller;

  beforeAll(async () => {
    fixture = await openCrashFixture();
    if (store === 'Postgres') server = await startPostgres();
    url = (await server?.newDatabase()) ?? `sqlite:${folder.newPath('db')}`;
    storage = await openStorage(url);
    wallet = await fixture.sandbox.createWallet({ usdc: '100' });
    seller = await start();
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
    await server?.stop();
  });

  const start = () => fixture.startSeller(url, LEASE_MS, undefined, wallet);
  const spent = ({ wallet: { publicKey } }: Order) => 1_000_000n - fixture.held(publicKey.toBase58());
  const runsOf = ({ path }: Order) => fixture.handled.filter((it) => it === `run${path}`).length;

  async function brokenOff(what: string): Promise<BrokenOff> {
    const order = await orderAtGate(fixture, await fixture.sandbox.createWallet({ usdc: '1' }), `/again/${what}`);
    const headers = new Headers(order.init.headers);
    headers.set('x-fail', 'please');
    const failed = await send(seller.url, { ...order, init: { headers } });
    expect(failed).toMatchObject({ status: 503, token: expect.any(String) });
    const [credit] = await storage.passes.list(order.wallet.publicKey.toBase58());
    fixture.keep = (point) => point === `run${order.path}`;
    const again = send(seller.url, order);
    await until(() => runsOf(order) === 2);
    await seller.kill();
    await again;
    fixture.keep = () => false;
    seller = await start();
    const byToken = { ...order, init: { headers: { 'access-pass': failed.token ?? '' } } };
    return { order, byToken, paymentId: credit?.paymentId ?? '' };
  }

  /** Whether a run of the handler came of sending some orders at once, and of how many of them. */
  async function servedAnew(...orders: readonly Order[]): Promise<number> {
    const replies = await Promise.all(orders.map((it) => send(seller.url, it)));
    return replies.filter(({ served, replayed }) => served && !replayed).length;
  }

  test('is served by its token alone, once, and not for the payment any more', async () => {
    const { order, byToken } = await brokenOff('token');
    await until(async () => (await servedAnew(byToken)) === 1);
    expect([await servedAnew(byToken), await servedAnew(order)]).toEqual([0, 0]);
    expect([runsOf(order), spent(order)]).toEqual([3, PRICE]);
  });

  test('is paid back, once, and serves nothing any more', async () => {
    const { order, byToken, paymentId } = await brokenOff('refund');
    const refund = () => fetch(`${seller.url}/refund/${paymentId}`, { method: 'POST' });
    await until(async () => (await refund()).ok);
    expect(await storage.refunds.ofPayment(paymentId)).toMatchObject([{ state: 'paid' }]);
    expect([(await refund()).ok, await servedAnew(byToken), await servedAnew(order)]).toEqual([false, 0, 0]);
    expect([runsOf(order), spent(order)]).toEqual([2, 0n]);
  });

  test('is served once in all where its token and the payment itself come at the same time', async () => {
    const { order, byToken } = await brokenOff('both');
    let served = 0;
    await until(async () => {
      served += await servedAnew(byToken, order, byToken, order);
      return served > 0;
    });
    served += await servedAnew(byToken, order);
    expect([served, runsOf(order), spent(order)]).toEqual([1, 3, PRICE]);
  });
});
