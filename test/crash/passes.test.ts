import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { type CrashFixture, openCrashFixture, PRICE, type Seller } from '../helpers/crash/crash-fixture.js';
import { insist, type Order, orderAtGate, send } from '../helpers/crash/orders.js';
import { passAnswer } from '../helpers/http/passes.js';
import { signIn } from '../helpers/http/sign-in.js';
import { createHolds, type HeldAt } from '../helpers/nodes/holds.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { holdWrites } from '../helpers/storage/write-hold.js';
import { createGate } from '../helpers/transactions/payments.js';
import { walletKeyOf } from '../helpers/transactions/wallet-key.js';
import { until } from '../helpers/until.js';

const LEASE_MS = 3_000;
/** What is sold for the same price before the process is killed, and after it. */
const [USES, FEWER_USES] = [5, 2];

/**
 * Where the process is killed: the signature is in the books and nothing is sent; the money is on its way; it has landed, and on
 * Postgres its pass is open and the outcome not written down.
 */
const STEPS: readonly HeldAt[] = ['noted', 'sent', 'landed'];

describe.each(['SQLite', 'Postgres'])('a pass whose seller is killed while it is bought, on %s', (store) => {
  const folder = testFolder();
  let fixture: CrashFixture;
  let server: PostgresServer | undefined;
  let url: string;
  let storage: Storage;
  let seller: Seller;
  let orders: ReadonlyMap<HeldAt, Order>;

  beforeAll(async () => {
    fixture = await openCrashFixture();
    if (store === 'Postgres') server = await startPostgres();
    url = (await server?.newDatabase()) ?? `sqlite:${folder.newPath('db')}`;
    storage = await openStorage(url);
    seller = await fixture.startSeller(url, LEASE_MS, USES);
    orders = await killed();
    seller = await fixture.startSeller(url, LEASE_MS, FEWER_USES);
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
    await server?.stop();
  });

  const spent = ({ wallet }: Order): bigint => 1_000_000n - fixture.held(wallet.publicKey.toBase58());
  const passesOf = ({ wallet }: Order) => storage.passes.list(wallet.publicKey.toBase58());
  const orderAt = (step: HeldAt): Order => {
    const order = orders.get(step);
    if (order === undefined) throw new Error(`nothing was ordered for ${step}`);
    return order;
  };

  /** Brings a payment to each step, and kills the seller there. */
  async function killed(): Promise<ReadonlyMap<HeldAt, Order>> {
    const mayBeTold = createGate();
    const holds = createHolds(mayBeTold.opened);
    fixture.proxy.decide = holds.decide;
    fixture.proxy.onAnswered = holds.answered;
    const all = new Map<HeldAt, Order>();
    const firsts: Promise<unknown>[] = [];
    for (const step of STEPS) {
      const order = await orderAtGate(fixture, await fixture.sandbox.createWallet({ usdc: '1' }), `/pass/${step}`);
      all.set(step, order);
      holds.add(order, step);
      firsts.push(send(seller.url, order));
      await until(() => holds.isHeld(order) && (step === 'noted' || spent(order) === PRICE));
    }
    const slot = fixture.sandbox.slot();
    await until(() => fixture.sandbox.slot() > slot + 2);
    const unlock = await holdWrites(url);
    mayBeTold.open();
    await until(holds.allTold);
    if (store === 'Postgres') await until(async () => (await passesOf(orderOf(all, 'landed'))).length === 1);
    await seller.kill();
    await Promise.all(firsts);
    fixture.proxy.decide = () => 'pass';
    await unlock();
    return all;
  }

  const orderOf = (all: ReadonlyMap<HeldAt, Order>, step: HeldAt): Order => all.get(step) as Order;

  /** Signs in with the wallet that has paid. */
  async function comeIn({ wallet, path }: Order) {
    const headers = await signIn(walletKeyOf(wallet.secretKey.subarray(0, 32)), seller.url + path);
    return passAnswer(await fetch(seller.url + path, { headers }));
  }

  test.each(['sent', 'landed'] as const)(
    'when the money was %s is opened without its payer, who signs in and does not pay again',
    async (step) => {
      const order = orderAt(step);
      await until(async () => (await passesOf(order)).length > 0);
      expect(await passesOf(order)).toMatchObject([{ bought: BigInt(USES), left: BigInt(USES - 1) }]);
      expect(await comeIn(order)).toEqual({ status: 200, left: String(USES - 2) });
      expect(spent(order)).toBe(PRICE);

      // The paid request is the first of the uses, and is still owed.
      expect((await insist(() => seller.url, order)).at(-1)).toMatchObject({ served: true });
      expect(await passesOf(order)).toMatchObject([{ bought: BigInt(USES), left: BigInt(USES - 2) }]);
      expect(spent(order)).toBe(PRICE);
    },
  );

  test('before anything was sent is what was offered then, when the same payment is brought again', async () => {
    const order = orderAt('noted');
    expect([spent(order), await passesOf(order)]).toEqual([0n, []]);
    expect((await insist(() => seller.url, order)).at(-1)).toMatchObject({ served: true });
    expect(await passesOf(order)).toMatchObject([{ bought: BigInt(USES), left: BigInt(USES - 1) }]);
    expect([spent(order), await comeIn(order)]).toEqual([PRICE, { status: 200, left: String(USES - 2) }]);
  });
});
