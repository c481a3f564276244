import type { Keypair } from '@solana/web3.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { mistold, readBooks } from '../helpers/crash/books.js';
import { type CrashFixture, openCrashFixture, PRICE, type Seller } from '../helpers/crash/crash-fixture.js';
import { orderAtGate, type Reply, send } from '../helpers/crash/orders.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';

/** `CRASH_PAYMENTS=500 npx jest test/crash/two-processes.test.ts` is the long run; it prints its figures. */
const LONG = process.env['CRASH_PAYMENTS'];
const PAYMENTS = Number(LONG ?? 100);
const AT_ONCE = 25;
const LEASE_MS = 30_000;

describe('two processes on one Postgres', () => {
  let fixture: CrashFixture;
  let server: PostgresServer;
  let storage: Storage;
  let sellers: readonly Seller[];

  beforeAll(async () => {
    [fixture, server] = await Promise.all([openCrashFixture(), startPostgres()]);
    const url = await server.newDatabase();
    storage = await openStorage(url);
    sellers = await Promise.all([fixture.startSeller(url, LEASE_MS), fixture.startSeller(url, LEASE_MS)]);
  });
  afterAll(async () => {
    await fixture.close();
    await storage.close();
    await server.stop();
  });

  test(`${PAYMENTS} payments, each sent to both at once, are each served once`, async () => {
    const wallet = await fixture.sandbox.createWallet({ usdc: '100' });
    const since = performance.now();
    const pairs = await sendAll(wallet);
    const seconds = (performance.now() - since) / 1000;

    expect(pairs.map((pair) => pair.filter(({ served, replayed }) => served && !replayed).length)).toEqual(
      Array.from({ length: PAYMENTS }, () => 1),
    );
    expect(new Set(fixture.handled).size).toBe(fixture.handled.length);
    const others = pairs.flat().filter(({ served }) => !served);
    for (const { status, code } of others) {
      expect(['409 payment_in_progress', '402 payment_already_used']).toContain(`${status} ${code}`);
    }
    expect(fixture.held(fixture.payTo)).toBe(PRICE * BigInt(PAYMENTS));
    const entries = await readBooks(storage.database);
    expect(entries).toHaveLength(PAYMENTS);
    expect(mistold(entries)).toEqual([]);
    if (LONG !== undefined) report(others, seconds);
  });

  /** Sends each order to both; so many are under way at once, and each is signed when its turn comes, by a blockhash of then. */
  async function sendAll(wallet: Keypair): Promise<readonly (readonly Reply[])[]> {
    const pairs: (readonly Reply[])[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < PAYMENTS) {
        const at = next;
        next += 1;
        const order = await orderAtGate(fixture, wallet, `/${at % 2 ? 'after' : 'before'}/${at}`);
        pairs[at] = await Promise.all(sellers.map(({ url }) => send(url, order)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return pairs;
  }

  function report(others: readonly Reply[], seconds: number): void {
    const count = (status: number): number => others.filter((it) => it.status === status).length;
    process.stderr.write(
      `${PAYMENTS} payments to both in ${seconds.toFixed(1)} s: ${count(409)} were told 409, ${count(402)} 402\n`,
    );
  }
});
