import type { EventLog } from '../../src/storage/events/event-log.js';
import { createSqlEventLog } from '../../src/storage/events/sql-event-log.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { createMemoryPassStore } from '../../src/storage/passes/memory-pass-store.js';
import { createSqlPassStore } from '../../src/storage/passes/sql-pass-store.js';
import { readPruningLag } from '../../src/storage/prunable.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { testClock } from '../helpers/test-clock.js';
import { newClaim } from './ledger-samples.js';
import { passCreditContract } from './pass-credit.js';
import { passEndsContract } from './pass-ends.js';
import { passRenewalContract, subscription } from './pass-renewal.js';
import { newPass, type PassesUnderTest, passesContract } from './passes.js';

const folder = testFolder();
const MANY = 400;
const URLS = [
  ['SQLite', async () => `sqlite:${folder.newPath('db')}`],
  ['Postgres', () => server.newDatabase()],
] as const;
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function onDatabases(open: () => Promise<SqlDatabase>): Promise<PassesUnderTest & { events: EventLog }> {
  const { now, advance } = testClock();
  const databases = [await open(), await open()] as const;
  const [passes, others] = [createSqlPassStore(databases[0], now), createSqlPassStore(databases[1], now)];
  const close = async () => void (await Promise.all(databases.map((it) => it.close())));
  return { passes, others, now, advance, close, events: createSqlEventLog(databases[0]) };
}

async function inMemory(): Promise<PassesUnderTest> {
  const { now, advance } = testClock();
  const passes = createMemoryPassStore({ now });
  return { passes, others: passes, now, advance, close: async () => {} };
}

async function onSqlite() {
  const path = folder.newPath('db');
  return onDatabases(() => openSqlite(path));
}

async function onPostgres() {
  const url = await server.newDatabase();
  return onDatabases(() => openPostgres(url));
}

passesContract('memory', inMemory, 100);
passesContract('SQLite', onSqlite, 25);
passesContract('Postgres', onPostgres, 25);
passEndsContract('memory', inMemory);
passEndsContract('SQLite', onSqlite);
passEndsContract('Postgres', onPostgres);
passCreditContract('memory', inMemory);
passCreditContract('SQLite', onSqlite);
passCreditContract('Postgres', onPostgres);
passRenewalContract('memory', inMemory, 100);
passRenewalContract('SQLite', onSqlite, 20);
passRenewalContract('Postgres', onPostgres, 20);

test.each([
  ['SQLite', onSqlite],
  ['Postgres', onPostgres],
] as const)('two instances on %s that take from one pass at once take all of it and no more', async (_name, open) => {
  const { passes, others, close } = await open();
  const bought = BigInt(MANY);
  const { id } = await passes.open(newPass({ bought, left: bought }));
  const debits = Array.from({ length: 2 * MANY }, (_, at) =>
    (at % 2 === 0 ? passes : others).debit({ passId: id, requestId: `request ${at}`, amount: 1n }),
  );
  const results = await Promise.all(debits);
  const taken = results.flatMap((it) => (it.ok ? [it.left] : []));
  expect(new Set(taken).size).toBe(MANY);
  expect(taken).toHaveLength(MANY);
  expect((await passes.find(id))?.left).toBe(0n);
  await close();
});

test('a memory remembers what a request took for as long as many others spend beside it, and a spent one no more', async () => {
  const passes = createMemoryPassStore({ maxDebits: 2 });
  const { id } = await passes.open(newPass({ bought: 50n, left: 50n }));
  await passes.debit({ passId: id, requestId: 'long', amount: 1n });
  for (let at = 0; at < 20; at += 1) {
    const requestId = `short ${at}`;
    await passes.debit({ passId: id, requestId, amount: 1n });
    passes.spent?.(id, requestId);
    expect(await passes.giveBack(id, requestId)).toBe(false);
  }
  expect(await passes.giveBack(id, 'long')).toBe(true);
  expect((await passes.find(id))?.left).toBe(30n);
});

test('a full memory opens no more passes until one is over', async () => {
  const { now, advance } = testClock();
  const passes = createMemoryPassStore({ now, maxPasses: 2 });
  await passes.open(newPass());
  const brief = await passes.open(newPass({ lastsMs: 1 }));
  await expect(passes.open(newPass())).rejects.toMatchObject({ code: 'store_unavailable' });
  await advance(1);
  await passes.open(newPass());
  expect(await passes.find(brief.id)).toBeUndefined();
});

test.each(URLS)(
  'what requests took long ago is forgotten on %s, and passes that are over when their payments are',
  async (_name, newUrl) => {
    const { now, advance } = testClock();
    const storage = await openStorage(await newUrl(), { now });
    const { passes, ledger } = storage;
    const claim = newClaim();
    await ledger.claim(claim);
    const [known, over, lives] = [
      await passes.open(newPass({ paymentId: claim.id, left: 1n })),
      await passes.open(newPass({ left: 1n })),
      await passes.open(newPass()),
    ];
    for (const { id } of [known, over, lives]) await passes.debit({ passId: id, requestId: 'request', amount: 1n });
    await advance(1_000);
    const kept = async () => (await Promise.all([known, over, lives].map(({ id }) => passes.find(id)))).map(Boolean);

    const lag = { unpaid: now() - 100, books: now() - 200, events: now(), expired: now() };
    expect(await readPruningLag(storage.database, lag)).toMatchObject({ passes: 800, debits: 900 });
    expect(await storage.prune(0, 2, now())).toBe(1);
    expect(await kept()).toEqual([true, false, true]);
    const forget = () => storage.prune(now(), 2, 0);
    expect([await forget(), await forget(), await forget()]).toEqual([2, 2, 2]);
    expect(await passes.giveBack(lives.id, 'request')).toBe(false);
    const owed = newClaim();
    await ledger.claim(owed);
    await ledger.recordOutcome(owed.id, owed.lease, { state: 'confirmed', slot: 1, signature: 'signature' });
    const its = await passes.open(newPass({ paymentId: owed.id }));
    await advance(1_000);
    expect(await storage.prune(now(), 9, 0)).toBe(0);
    await ledger.served(owed.id, owed.lease);
    expect([await storage.prune(now(), 9, 0), await passes.giveBack(its.id, owed.id)]).toEqual([1, false]);
    await ledger.forget(claim.id, claim.lease);
    expect(await storage.prune(0, 9, now())).toBe(1);
    expect(await kept()).toEqual([false, false, true]);
    await storage.close();
  },
);

test.each(URLS)(
  'a pass on %s outlives the payment that made it as long as one that renewed it is kept',
  async (_name, newUrl) => {
    const { now, advance } = testClock();
    const storage = await openStorage(await newUrl(), { now });
    const { passes, ledger } = storage;
    const claim = newClaim();
    await ledger.claim(claim);
    const first = subscription(1_000);
    const { id } = await passes.open(first);
    await passes.open(subscription(1_000, { paymentId: claim.id }));
    await advance(10_000);
    expect(await storage.prune(0, 9, now())).toBe(0);
    await ledger.forget(claim.id, claim.lease);
    expect([await storage.prune(0, 9, now()), await passes.find(id)]).toEqual([1, undefined]);
    expect([await passes.findByPayment(claim.id), await passes.findByPayment(first.paymentId)]).toEqual([
      undefined,
      undefined,
    ]);
    await storage.close();
  },
);

test.each(URLS)(
  'a payment on %s is over when other requests have had what it left, and only then',
  async (_name, newUrl) => {
    const { now, advance } = testClock();
    const storage = await openStorage(await newUrl(), { now });
    const { passes, ledger } = storage;
    const failed = async () => {
      const claim = newClaim();
      await ledger.claim(claim);
      await ledger.recordOutcome(claim.id, claim.lease, { state: 'confirmed', slot: 1, signature: claim.id });
      const pass = await passes.open(newPass({ paymentId: claim.id, bought: 1n, left: 1n }));
      await ledger.keep(claim.id, claim.lease);
      return { claim, passId: pass.id };
    };
    const [waits, had, runs] = [await failed(), await failed(), await failed()];
    await passes.debit({ passId: had.passId, requestId: 'another', amount: 1n });
    await passes.debit({ passId: runs.passId, requestId: runs.claim.id, amount: 1n });
    const states = () => Promise.all([waits, had, runs].map(async ({ claim }) => (await ledger.find(claim.id))?.state));
    await storage.prune(now() - 1, 9, 0);
    expect(await states()).toEqual(['confirmed', 'confirmed', 'confirmed']);
    await advance(600_000);
    await storage.prune(now(), 9, 0);
    expect(await states()).toEqual(['confirmed', 'served', 'confirmed']);
    await storage.close();
  },
);
