import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { mistold, readBooks } from '../helpers/crash/books.js';
import { type CrashFixture, openCrashFixture, PRICE, type Seller } from '../helpers/crash/crash-fixture.js';
import { insist, newOrder, type Order, type OrderDoor, type Reply, send } from '../helpers/crash/orders.js';
import { createHolds, type HeldAt, type Holds } from '../helpers/nodes/holds.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { holdWrites } from '../helpers/storage/write-hold.js';
import { createGate } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

/**
 * Where the process is killed in the life of a payment:
 * `unclaimed` (it has arrived, and is not claimed), `claimed` (and not simulated), `running` (the handler is at work),
 * `noted` (its signature is in the books, and it is not sent), `sent` (and no response came), `landed` (the chain has said so,
 * and it is not in the books), `booked` (and nothing is answered), `answering` (the client has a part of the response).
 */
type Step = 'unclaimed' | 'claimed' | 'running' | 'noted' | 'sent' | 'landed' | 'booked' | 'answering';

/** A payment on its way to the step where it is killed. */
interface Passenger {
  readonly door: OrderDoor;
  readonly step: Step;
  readonly order: Order;
  readonly first: Promise<Reply>;
}

/** What is expected of a payment: [door, step, its state in the books at the kill, runs of its handler in all]. */
type Row = readonly [OrderDoor, Step, string, number];

/**
 * A handler that was at work when its process died runs again, for nobody can know how far it came. One that settles after
 * it does not, once its payment is sent: its response is kept by then.
 */
const ROUNDS: readonly (readonly [string, readonly Row[]])[] = [
  [
    'before the money has landed, and during the answer',
    [
      ['after', 'claimed', 'claimed', 1],
      ['after', 'running', 'claimed', 2],
      ['after', 'noted', 'broadcast', 1],
      ['before', 'noted', 'broadcast', 1],
      ['after', 'sent', 'broadcast', 1],
      ['before', 'sent', 'broadcast', 1],
      ['x402', 'noted', 'broadcast', 0],
      ['x402', 'sent', 'broadcast', 0],
      ['native', 'noted', 'broadcast', 0],
      ['native', 'sent', 'broadcast', 0],
      ['before', 'running', 'confirmed', 2],
      ['before', 'answering', 'confirmed', 2],
      ['after', 'answering', 'confirmed', 1],
      ['after', 'unclaimed', 'none', 1],
    ],
  ],
  [
    'when the money has landed, before it is in the books',
    [
      ['after', 'landed', 'broadcast', 1],
      ['before', 'landed', 'broadcast', 1],
      ['x402', 'landed', 'broadcast', 0],
      ['native', 'landed', 'broadcast', 0],
    ],
  ],
  ['when the money is in the books, before the answer', [['after', 'booked', 'confirmed', 1]]],
];

/** Longer than a busy machine keeps a process waiting; one that is killed is known to be gone long before. */
const LEASE_MS = 10_000;

describe.each(['SQLite', 'Postgres'])('a process that is killed, on %s', (store) => {
  const folder = testFolder();
  let fixture: CrashFixture;
  let server: PostgresServer | undefined;
  let url: string;
  let storage: Storage;
  let seller: Seller | undefined;

  beforeAll(async () => {
    fixture = await openCrashFixture();
    if (store === 'Postgres') server = await startPostgres();
    url = (await server?.newDatabase()) ?? `sqlite:${folder.newPath('db')}`;
    storage = await openStorage(url);
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
    await server?.stop();
  });

  const spent = ({ order }: Passenger): bigint => 1_000_000n - fixture.held(order.wallet.publicKey.toBase58());
  const runs = ({ order }: Passenger): number => fixture.handled.filter((it) => it === `run${order.path}`).length;

  async function stateOf({ order }: Passenger): Promise<string> {
    const address = order.wallet.publicKey.toBase58();
    return (await readBooks(storage.database)).find(({ payer }) => payer === address)?.state ?? 'none';
  }

  test.each(ROUNDS)('%s: is paid once, and served once', async (_when, rows) => {
    const dying = seller ?? (await fixture.startSeller(url, LEASE_MS));
    // Where a round fails, the next one starts its own.
    seller = undefined;
    const before = fixture.held(fixture.payTo);
    const { passengers, letGo, bury } = await board(rows, dying);
    await dying.kill();
    bury();
    const firsts = await Promise.all(passengers.map(({ first }) => first));
    expect(firsts.filter(({ served }) => served)).toEqual([]);
    expect(await told(passengers, async (it) => [await stateOf(it)])).toEqual(
      rows.map(([door, step, state]) => [door, step, state]),
    );
    await letGo();

    seller = await fixture.startSeller(url, LEASE_MS);
    const { url: at } = seller;
    const repeated = await Promise.all(passengers.map(({ order }) => insist(() => at, order)));
    expect(repeated.map((it) => it.at(-1)?.served)).toEqual(rows.map(() => true));
    for (const { status } of repeated.flatMap((it) => it.slice(0, -1))) expect([200, 409, 503]).toContain(status);

    const again = await Promise.all(passengers.map(({ order }) => send(at, order)));
    expect(again.map(({ code, replayed }) => code ?? replayed)).toEqual(rows.map(([door]) => AGAIN[door]));
    expect(await told(passengers, async (it) => [await stateOf(it), runs(it), spent(it)])).toEqual(
      rows.map(([door, step, , count]) => [door, step, 'served', count, PRICE]),
    );
    expect(fixture.held(fixture.payTo) - before).toBe(PRICE * BigInt(rows.length));
    expect(mistold(await readBooks(storage.database))).toEqual([]);
  });

  function told<T>(passengers: readonly Passenger[], fact: (it: Passenger) => Promise<readonly T[]>) {
    return Promise.all(passengers.map(async (it) => [it.door, it.step, ...(await fact(it))]));
  }

  /** Brings a payment of each row to its step. Nothing goes on from there, until the process is dead and `letGo` called. */
  async function board(rows: readonly Row[], alive: Seller) {
    const passengers: Passenger[] = [];
    const [mayBeTold, dead] = [createGate(), createGate()];
    const holds = createHolds(mayBeTold.opened);
    let unlock: (() => Promise<void>) | undefined;
    fixture.proxy.decide = holds.decide;
    fixture.proxy.onAnswered = holds.answered;
    fixture.keep = (point) => point.startsWith('half/') || point.endsWith('/running');

    for (const [door, step] of rows) {
      const order = await newOrder(fixture, alive, door, step);
      if (isHeldAt(step)) holds.add(order, step);
      if (step === 'unclaimed') unlock ??= await holdWrites(url);
      const head = createGate();
      const first = send(alive.url, step === 'booked' ? stopping(order) : order, async () => {
        head.open();
        await dead.opened;
      });
      const passenger = { door, step, order, first };
      passengers.push(passenger);
      await arrival(passenger, alive, holds, head.opened);
    }
    if (rows.some(([, step]) => step === 'landed')) {
      await confirmed();
      unlock = await holdWrites(url);
      mayBeTold.open();
      await until(holds.allTold);
    }
    return {
      passengers,
      async letGo(): Promise<void> {
        fixture.proxy.decide = () => 'pass';
        fixture.keep = () => false;
        await unlock?.();
      },
      bury: dead.open,
    };
  }

  async function arrival(passenger: Passenger, { told: lines }: Seller, holds: Holds, head: Promise<void>) {
    const { step, order } = passenger;
    const { path } = order;
    if (step === 'unclaimed') return until(() => lines.includes(`arrived ${path}`));
    if (step === 'booked') return until(() => lines.includes(`settled ${path}`));
    if (step === 'running') return until(() => fixture.handled.includes(`run${path}`));
    if (step === 'answering') return head;
    await until(() => holds.isHeld(order));
    if (step === 'sent' || step === 'landed') await until(() => spent(passenger) === PRICE);
  }

  /** What has landed is confirmed after two slots. */
  async function confirmed(): Promise<void> {
    const slot = fixture.sandbox.slot();
    await until(() => fixture.sandbox.slot() > slot + 2);
  }
});

/** What whoever was served is told when he comes once more: the response that is kept, or that there is none. */
const AGAIN: Readonly<Record<OrderDoor, string | boolean>> = {
  after: true,
  before: true,
  x402: 'duplicate_settlement',
  // The contract's shape answers the same again.
  native: false,
};

/** The same order, at which the process is to stop when its money is in the books. */
function stopping({ init, ...order }: Order): Order {
  return { ...order, init: { ...init, headers: { ...init.headers, 'x-stop': '1' } } };
}

const HELD_AT: readonly string[] = ['claimed', 'noted', 'sent', 'landed'];

function isHeldAt(step: Step): step is Step & HeldAt {
  return HELD_AT.includes(step);
}
