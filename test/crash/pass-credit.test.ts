import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { type CrashFixture, openCrashFixture, PRICE, type Seller } from '../helpers/crash/crash-fixture.js';
import { insist, type Order, orderAtGate } from '../helpers/crash/orders.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { until } from '../helpers/until.js';

const LEASE_MS = 3_000;
/** What a request begins with, and what its handler charges, atomic units. */
const [COST, CHARGED] = [1_000n, 2_000n];

describe.each(['SQLite', 'Postgres'])('credit whose seller is killed while it is charged, on %s', (store) => {
  const folder = testFolder();
  let fixture: CrashFixture;
  let server: PostgresServer | undefined;
  let url: string;
  let storage: Storage;
  let seller: Seller;

  beforeAll(async () => {
    fixture = await openCrashFixture();
    if (store === 'Postgres') server = await startPostgres();
    url = (await server?.newDatabase()) ?? `sqlite:${folder.newPath('db')}`;
    storage = await openStorage(url);
    seller = await fixture.startSeller(url, LEASE_MS);
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
    await server?.stop();
  });

  const newOrder = async (path: string) =>
    orderAtGate(fixture, await fixture.sandbox.createWallet({ usdc: '1' }), path);
  const ask = (path: string, init: RequestInit) => fetch(seller.url + path, init).then((it) => it.text());

  /** What is left of the credit of an order, and what its requests have taken. */
  async function books({ wallet }: Order) {
    const [pass] = await storage.passes.list(wallet.publicKey.toBase58());
    const text = `select remaining, (select coalesce(sum(amount), 0) from tollhouse_pass_debit where pass_id = $1) as taken
      from tollhouse_pass where id = $1`;
    const [row] = await storage.database.query({ name: 'test_credit_books', text }, pass?.id ?? '');
    return { left: BigInt(String(row?.remaining ?? -1)), taken: BigInt(String(row?.taken ?? -1)) };
  }

  /** Has a request made, and kills the seller where its handler has come so far; starts it again. */
  async function killAt(point: 'run' | 'half', path: string, init: RequestInit): Promise<void> {
    const held = point + path;
    fixture.keep = (it) => it === held;
    const before = fixture.handled.filter((it) => it === held).length;
    const asked = ask(path, init).catch(() => undefined);
    await until(() => fixture.handled.filter((it) => it === held).length > before);
    await seller.kill();
    await asked;
    fixture.keep = () => false;
    seller = await fixture.startSeller(url, LEASE_MS);
  }

  test('keeps what was debited and charged, and no more: what was paid is what was taken and what is left', async () => {
    const order = await newOrder('/metered/paid');
    const paid = await fetch(seller.url + order.path, order.init);
    expect(await paid.text()).toBe('metered');
    const headers = { 'access-pass': paid.headers.get('access-pass') ?? '' };
    let taken = CHARGED;
    await until(async () => (await books(order)).taken === taken);

    await killAt('run', '/metered/debited', { headers });
    taken += COST;
    expect(await books(order)).toEqual({ left: PRICE - taken, taken });

    await killAt('half', '/metered/charged', { headers });
    taken += CHARGED;
    expect(await books(order)).toEqual({ left: PRICE - taken, taken });

    expect(await ask('/metered/whole', { headers })).toBe('metered');
    taken += CHARGED;
    expect(await books(order)).toEqual({ left: PRICE - taken, taken });
  });

  test.each(['run', 'half'] as const)(
    'in the paid request, at its point "%s", owes it, and takes once what it comes to when it is served',
    async (point) => {
      const order = await newOrder(`/metered/${point}`);
      await killAt(point, order.path, order.init);
      const killed = point === 'run' ? COST : CHARGED;
      expect(await books(order)).toEqual({ left: PRICE - killed, taken: killed });

      expect((await insist(() => seller.url, order)).at(-1)).toMatchObject({ served: true });
      await until(async () => (await books(order)).taken === CHARGED);
      expect(await books(order)).toEqual({ left: PRICE - CHARGED, taken: CHARGED });
      expect(fixture.held(order.wallet.publicKey.toBase58())).toBe(1_000_000n - PRICE);
    },
  );
});
