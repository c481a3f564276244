import { type CrashFixture, openCrashFixture, PRICE } from '../helpers/crash/crash-fixture.js';
import { insist, newOrder, type Order, type Reply, send } from '../helpers/crash/orders.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { until } from '../helpers/until.js';

/** So long that nothing that happens here can be the end of a lease. */
const LEASE_MS = 600_000;
/** Longer than a process must be silent before others ask whether it is gone. */
const STALL_MS = 9_000;

describe.each(['SQLite', 'Postgres'])('a payment that a process holds, on %s,', (store) => {
  const folder = testFolder();
  let fixture: CrashFixture;
  let server: PostgresServer | undefined;
  let url: string;

  beforeAll(async () => {
    fixture = await openCrashFixture();
    if (store === 'Postgres') server = await startPostgres();
    url = (await server?.newDatabase()) ?? `sqlite:${folder.newPath('db')}`;
  });
  afterAll(async () => {
    await fixture.close();
    await server?.stop();
  });

  /** The same order, at which the process stops when its money is in the books and nothing is answered yet. */
  function stopping({ init, ...order }: Order): Order {
    return { ...order, init: { ...init, headers: { ...init.headers, 'x-stop': '1' } } };
  }

  test('is taken over as soon as the process is killed, and long before its lease ends', async () => {
    const [dying, other] = [await fixture.startSeller(url, LEASE_MS), await fixture.startSeller(url, LEASE_MS)];
    const order = await newOrder(fixture, dying, 'before', 'killed');
    void send(dying.url, stopping(order));
    await until(() => dying.told.includes(`settled ${order.path}`));
    await dying.kill();
    const since = performance.now();
    const replies = await insist(() => other.url, order);
    expect(replies.at(-1)).toMatchObject({ status: 200, served: true });
    expect(performance.now() - since).toBeLessThan(LEASE_MS / 10);
    expect(fixture.handled.filter((it) => it === `run${order.path}`)).toHaveLength(1);
    expect(fixture.held(order.wallet.publicKey.toBase58())).toBe(1_000_000n - PRICE);
    await other.kill();
  });

  test.each(['after', 'before'] as const)(
    'is taken over as soon where it was sent, and its money landed after the process was killed: settle %s',
    async (door) => {
      const { sandbox } = fixture;
      const [dying, other] = [await fixture.startSeller(url, LEASE_MS), await fixture.startSeller(url, LEASE_MS)];
      const order = await newOrder(fixture, dying, door, 'on-its-way');
      sandbox.pauseSlots();
      const { sendTransaction } = sandbox.calls;
      void send(dying.url, order);
      await until(() => sandbox.calls.sendTransaction > sendTransaction);
      await dying.kill();
      sandbox.resumeSlots();
      const since = performance.now();
      expect((await insist(() => other.url, order)).at(-1)).toMatchObject({ status: 200, served: true });
      expect(performance.now() - since).toBeLessThan(LEASE_MS / 10);
      expect(fixture.handled.filter((it) => it === `run${order.path}`)).toHaveLength(1);
      expect(fixture.held(order.wallet.publicKey.toBase58())).toBe(1_000_000n - PRICE);
      await other.kill();
    },
  );

  test('stays with a process whose event loop stands still', async () => {
    const [stalled, other] = [await fixture.startSeller(url, LEASE_MS), await fixture.startSeller(url, LEASE_MS)];
    const order = await newOrder(fixture, stalled, 'before', 'stalled');
    void send(stalled.url, stopping(order));
    await until(() => stalled.told.includes(`settled ${order.path}`));
    const since = performance.now();
    const replies: Reply[] = [];
    await until(async () => {
      replies.push(await send(other.url, order));
      return performance.now() - since > STALL_MS;
    });
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([409]));
    await stalled.kill();
    expect((await insist(() => other.url, order)).at(-1)).toMatchObject({ status: 200, served: true });
    await other.kill();
  });
});
