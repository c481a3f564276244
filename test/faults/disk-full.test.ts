import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { mistold, readBooks } from '../helpers/crash/books.js';
import { type CrashFixture, openCrashFixture, PRICE, type Seller } from '../helpers/crash/crash-fixture.js';
import { insist, newOrder, type Order, type Reply, send } from '../helpers/crash/orders.js';
import type { Passage } from '../helpers/nodes/rpc-proxy.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { fillDisk, HAS_DISK_LIMIT, makeRoom } from '../helpers/storage/disk-limit.js';
import { createGate } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

const PAYERS = 8;
const LEASE_MS = 3_000;

interface Row {
  readonly when: string;
  readonly door: 'after' | 'before';
  /** The step at which all payments are when the disk becomes full. */
  readonly step: 'claim' | 'run' | 'send' | 'half';
  /** What payers see, as status and code. */
  readonly sees: string;
  /** Whether they have paid by then. */
  readonly paid: boolean;
}

const FULL = '503 store_unavailable';

/** Everybody has been served in the end, for one price. */
const ROWS: readonly Row[] = [
  { when: 'before payments come', door: 'after', step: 'claim', sees: FULL, paid: false },
  { when: 'while handlers are at work', door: 'after', step: 'run', sees: FULL, paid: false },
  { when: 'while transactions are on their way', door: 'after', step: 'send', sees: FULL, paid: true },
  { when: 'while what is paid is answered', door: 'before', step: 'half', sees: '200', paid: true },
];

const HELD_BY = HAS_DISK_LIMIT ? '' : ' (not shown here: it takes Linux and prlimit)';

(HAS_DISK_LIMIT ? describe : describe.skip)(`a disk that is full${HELD_BY}`, () => {
  const folder = testFolder();
  let fixture: CrashFixture;
  let storage: Storage;
  let seller: Seller;
  const all: Order[] = [];

  beforeAll(async () => {
    const url = `sqlite:${folder.newPath('db')}`;
    fixture = await openCrashFixture();
    seller = await fixture.startSeller(url, LEASE_MS);
    storage = await openStorage(url);
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
  });

  test.each(ROWS)('$when', async ({ door, step, sees, paid }) => {
    const orders = await Promise.all(
      Array.from({ length: PAYERS }, (_, at) => newOrder(fixture, seller, door, `${step}-${at}`)),
    );
    all.push(...orders);
    const replies = await sendUntil(orders, step);
    expect(replies.map(({ status, code }) => [status, code].filter((it) => it).join(' '))).toEqual(
      orders.map(() => sees),
    );
    for (const { status, retryAfter = 0 } of replies) expect(retryAfter > 0).toBe(status === 503);
    await until(() => fixture.held(fixture.payTo) === PRICE * BigInt(paid ? all.length : all.length - PAYERS));

    makeRoom(seller.pid);
    const last = (await Promise.all(orders.map((order) => insist(() => seller.url, order)))).map((it) => it.at(-1));
    // What was given while nothing could be written is kept as soon as something can.
    expect(last.map((it) => (it?.served ? 'served' : it?.code))).toEqual(orders.map(() => 'served'));
    expect(fixture.held(fixture.payTo)).toBe(PRICE * BigInt(all.length));
    // That a response has left is written down after it.
    await until(async () => (await readBooks(storage.database)).every(({ state }) => state === 'served'));
    const entries = await readBooks(storage.database);
    expect(entries).toHaveLength(all.length);
    expect(mistold(entries)).toEqual([]);
  });

  /** Sends all orders and lets the disk become full when each of them has come to a step. */
  async function sendUntil(orders: readonly Order[], step: Row['step']): Promise<readonly Reply[]> {
    const gate = createGate();
    let there = 0;
    const arrive = (): void => {
      there += 1;
      if (there !== orders.length) return;
      fillDisk(seller.pid);
      gate.open();
    };
    if (step === 'claim') fillDisk(seller.pid);
    fixture.proxy.decide = async ({ method }): Promise<Passage> => {
      if (step !== 'send' || method !== 'sendTransaction') return 'pass';
      arrive();
      await gate.opened;
      return 'pass';
    };
    fixture.keep = async (point) => {
      if (!point.startsWith(`${step}/`)) return false;
      arrive();
      await gate.opened;
      return false;
    };
    return Promise.all(orders.map((order) => send(seller.url, order)));
  }
});
