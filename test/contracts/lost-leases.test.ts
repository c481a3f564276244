import { createSqlIdempotencyStore } from '../../src/storage/idempotency/sql-idempotency-store.js';
import { createSqlLedger } from '../../src/storage/ledger/sql-ledger.js';
import { createSqlPayoutStore } from '../../src/storage/payouts/sql-payout-store.js';
import { createSqlRefundStore } from '../../src/storage/payouts/sql-refund-store.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import { leaseOf } from '../../src/storage/sql/presence/presence.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { testClock } from '../helpers/test-clock.js';
import { until } from '../helpers/until.js';
import { newClaim, TERMS } from './ledger-samples.js';

const LEASE_MS = 120_000;
/** Larger than any number of a process. */
const NO_PROCESS = 999_999_999;

let server: PostgresServer;
let url: string;
const opened: SqlDatabase[] = [];

beforeAll(async () => {
  server = await startPostgres();
  url = await server.newDatabase();
});
afterAll(async () => {
  for (const database of opened) await database.close();
  await server.stop();
});

async function open(opening: Promise<SqlDatabase>): Promise<SqlDatabase> {
  const database = await opening;
  opened.push(database);
  return database;
}

const DATABASES = [
  {
    name: 'SQLite',
    openDatabase: () => open(openSqlite(':memory:')),
    /** The name of a process that is gone. */
    gone: async ({ presence }: SqlDatabase) => presence.id.replace(/\/\d+\//, `/${NO_PROCESS}/`),
  },
  {
    name: 'Postgres',
    openDatabase: () => open(openPostgres(url)),
    async gone({ presence }: SqlDatabase) {
      const other = await openPostgres(url);
      await other.close();
      await until(() => presence.isGone(other.presence.id));
      return other.presence.id;
    },
  },
];

/** What is leased, once a process holds it. */
interface Leased {
  readonly table: string;
  /** Takes it for somebody else; tells how many there were. */
  take(): Promise<number>;
}

async function heldPayout(database: SqlDatabase, now: () => number): Promise<Leased> {
  const [ledger, book] = [createSqlLedger(database, now), createSqlPayoutStore(database, now)];
  const legs = [{ recipient: 'recipient', amount: 5n }];
  const claim = newClaim({ projectId: 'prj_1', owner: 'owner', owedLegs: legs, terms: { ...TERMS, amount: 5n } });
  await ledger.claim(claim);
  await ledger.recordOutcome(claim.id, claim.lease, { state: 'served', slot: 7, signature: '5'.repeat(88) });
  await book.accrue(100);
  const { network, asset: mint, payTo: wallet } = TERMS;
  await book.plan({ projectId: 'prj_1', network, wallet, mint }, ['recipient']);
  expect(await book.take(network, 'one', LEASE_MS, 10)).toHaveLength(1);
  const take = async () => (await book.take(network, 'other', LEASE_MS, 10)).length;
  return { table: 'tollhouse_payout', take };
}

async function heldRefund(database: SqlDatabase, now: () => number): Promise<Leased> {
  const book = createSqlRefundStore(database, now);
  const { network, asset: mint, payTo } = TERMS;
  const named = { id: 'rfd_1', paymentId: 'payment', passId: 'pas_1', network, mint };
  const wanted = { ...named, wallet: 'wallet', recipient: 'payer', owner: payTo, amount: 5n, taken: 5n };
  expect(await book.plan(wanted, { amount: 100n, since: 0 }, 'one', LEASE_MS)).toBe(true);
  const take = async () => (await book.take(network, 'other', LEASE_MS, 10)).length;
  return { table: 'tollhouse_refund', take };
}

describe.each(DATABASES)('on $name', ({ openDatabase, gone }) => {
  test.each([
    ['a payout', heldPayout],
    ['a refund', heldRefund],
  ])('%s is taken over from a process that is gone, long before its lease ends', async (_what, hold) => {
    const { now, advance } = testClock();
    const database = await openDatabase();
    const { table, take } = await hold(database, now);
    await advance(database.presence.silentMs);
    // The process that holds it lives: it is this one.
    expect(await take()).toBe(0);
    const lease = leaseOf({ id: await gone(database) }, 'one');
    await database.query({ name: `test_lose_${table}`, text: `update ${table} set lease = $1` }, lease);
    expect(await take()).toBe(1);
    expect(await take()).toBe(0);
  });

  test('a run of a response is taken over from a process that is gone, by one that learns its lease, and from no other', async () => {
    const { now, advance } = testClock();
    const database = await openDatabase();
    const store = createSqlIdempotencyStore(database, { now });
    const newRun = (lease: string) => ({ id: 'run', fingerprint: 'same', lease, leaseMs: LEASE_MS });
    const [lost, living] = [leaseOf({ id: await gone(database) }, 'one took a use'), String(store.newLease?.())];
    await store.begin(newRun(lost));
    await advance(database.presence.silentMs);
    expect(await store.find('run', 'same')).toEqual({ status: 'ended' });
    expect(await store.begin({ ...newRun(living), fingerprint: 'other' })).toEqual({ status: 'mismatch' });
    expect(await store.begin(newRun(living))).toEqual({ status: 'started', lease: `${living} took a use` });
    expect(await store.finish('run', lost, Buffer.from('late'))).toBe(false);
    await advance(LEASE_MS - 1);
    // The process that has it now lives: it is this one.
    expect(await store.find('run', 'same')).toEqual({ status: 'running' });
    expect(await store.begin(newRun('third'))).toEqual({ status: 'running' });
    expect(await store.finish('run', `${living} took a use`, Buffer.from('response'))).toBe(true);
  });
});
