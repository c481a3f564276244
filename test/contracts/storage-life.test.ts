import type { ClaimRequest } from '../../src/storage/ledger/ledger.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { openSqliteFile } from '../helpers/storage/sqlite-file.js';
import { testClock } from '../helpers/test-clock.js';
import { newRequest } from './ledger-requests.js';
import { newClaim } from './ledger-samples.js';

const folder = testFolder();
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

interface Kind {
  readonly name: string;
  newUrl(): Promise<string>;
  /** Runs one statement behind the back of whoever uses the database. */
  execute(url: string, text: string): Promise<void>;
}

const KINDS: Kind[] = [
  {
    name: 'SQLite',
    newUrl: async () => `sqlite:${folder.newPath('db')}`,
    execute: async (url, text) => {
      const database = await openSqliteFile(url);
      database.exec(text);
      database.close();
    },
  },
  {
    name: 'Postgres',
    newUrl: () => server.emptyDatabase(),
    execute: async (url, text) => void (await server.query(url, text)),
  },
];

test.each(KINDS)('a storage on $name may be closed twice, also at once', async ({ newUrl }) => {
  const storage = await openStorage(await newUrl());
  await Promise.all([storage.close(), storage.close()]);
  await storage.close();
});

describe.each(KINDS)('the schema on $name', ({ newUrl, execute }) => {
  test('is made once by many instances that start at once', async () => {
    const url = await newUrl();
    const instances = await Promise.all(Array.from({ length: 6 }, () => openStorage(url)));
    const claim = newClaim();
    const results = await Promise.all(
      instances.map(({ ledger }) => ledger.claim({ ...claim, lease: String(Math.random()) })),
    );

    expect(results.map(({ status }) => status).sort()).toEqual([...Array(5).fill('busy'), 'won']);
    await Promise.all(instances.map((instance) => instance.close()));
  });

  test('that is there already is left alone, with all that it holds', async () => {
    const url = await newUrl();
    const first = await openStorage(url);
    const claim = newClaim();
    const { record } = await first.ledger.claim(claim);
    await first.counters.takeOnce('denied:1', 60_000);
    await first.close();

    const second = await openStorage(url);
    expect(await second.ledger.find(claim.id)).toEqual(record);
    expect(await second.counters.takeOnce('denied:1', 60_000)).toBe(false);
    await second.close();
  });

  test('that a newer version made is refused in one line, and left alone', async () => {
    const url = await newUrl();
    await (await openStorage(url)).close();
    await execute(url, "insert into tollhouse_migration (name, timestamp) values ('9999-later', '2030')");

    await expect(openStorage(url)).rejects.toMatchObject({
      code: 'bad_option',
      message: expect.stringMatching(/^openStorage: the database has a newer schema \(9999-later\).*$/),
    });
    await execute(url, "delete from tollhouse_migration where name = '9999-later'");
    await (await openStorage(url)).close();
  });

  test('that is half made is not used: a step that fails leaves nothing behind', async () => {
    const url = await newUrl();
    await execute(url, 'create table tollhouse_mark (key text)');
    await expect(openStorage(url)).rejects.toThrow(/tollhouse_mark/);

    await execute(url, 'drop table tollhouse_mark');
    await (await openStorage(url)).close();
  });
});

describe.each(KINDS)('pruning on $name', ({ newUrl }) => {
  /** Of a payment that was split when it was made: nobody is owed anything of it. */
  function newPlainClaim() {
    const { owedLegs: _owedLegs, ...claim } = newClaim();
    return claim;
  }

  async function open() {
    const { now, advance } = testClock();
    return { ...(await openStorage(await newUrl(), { now })), now, advance };
  }

  /** The money of a held payment landed, and nothing is owed for it. */
  const serve = ({ ledger }: Storage, { id, lease }: ClaimRequest) =>
    ledger.recordOutcome(id, lease, { state: 'served', slot: 7, signature: '5'.repeat(88) });

  test('forgets what was over before a time, the oldest first, in steps; and keeps what is open', async () => {
    const storage = await open();
    const { ledger, prune, now, advance, close } = storage;
    const claims = Array.from({ length: 5 }, () => newPlainClaim());
    const unfinished = newPlainClaim();
    await ledger.claim(unfinished);
    for (const claim of claims) {
      await ledger.claim(claim);
      await serve(storage, claim);
      await advance(1_000);
    }
    const left = async () => (await Promise.all(claims.map(({ id }) => ledger.find(id)))).map(Boolean);

    expect(await prune(now() - 1_500, 2)).toBe(2);
    expect(await left()).toEqual([false, false, true, true, true]);
    expect([await prune(now() - 1_500, 100), await prune(now() - 1_500, 100)]).toEqual([2, 0]);
    expect(await left()).toEqual([false, false, false, false, true]);
    expect(await ledger.find(unfinished.id)).toBeDefined();
    await close();
  });

  test('forgets what was never sent, and keeps the books of the money for longer than what was not paid', async () => {
    const storage = await open();
    const { ledger, prune, now, advance, close } = storage;
    const [abandoned, expired, served] = [newPlainClaim(), newPlainClaim(), newPlainClaim()];
    for (const claim of [abandoned, expired, served]) await ledger.claim(claim);
    const reason = 'invalid_exact_svm_transaction_expired';
    await ledger.recordOutcome(expired.id, expired.lease, { state: 'expired', reason });
    await serve(storage, served);
    await advance(abandoned.leaseMs + 1);

    expect(await prune(now(), 100, now() - 600_000)).toBe(2);
    const left = await Promise.all([abandoned, expired, served].map(({ id }) => ledger.find(id)));
    expect(left.map((record) => record?.state)).toEqual([undefined, undefined, 'served']);
    await close();
  });

  test('never forgets a payment before the request that it pays', async () => {
    const storage = await open();
    const { ledger, prune, now, advance, close } = storage;
    const claim = newPlainClaim();
    const request = newRequest({ createdAt: now(), expiresAt: now() + 60_000 });
    await ledger.savePaymentRequest(request);
    await ledger.claim(claim);
    await ledger.attachAttempt(request.id, claim.id);
    await serve(storage, claim);
    await advance(30_000);
    expect(await prune(now(), 100)).toBe(0);

    await advance(60_000);
    expect(await prune(now(), 100)).toBe(2);
    expect([await ledger.find(claim.id), await ledger.findPaymentRequest(request.id)]).toEqual([undefined, undefined]);
    await close();
  });

  test('keeps a request as long as its payment is open', async () => {
    const { ledger, prune, now, advance, close } = await open();
    const claim = newPlainClaim();
    const request = newRequest({ createdAt: now(), expiresAt: now() + 1_000 });
    await ledger.savePaymentRequest(request);
    await ledger.claim(claim);
    await ledger.attachAttempt(request.id, claim.id);
    await advance(60_000);

    expect(await prune(now(), 100)).toBe(0);
    expect(await ledger.findPaymentRequest(request.id)).toBeDefined();
    await close();
  });
});

test.each([{ redis: 'redis://127.0.0.1:1' }, { redisUrl: 7 }, { now: 7 }])(
  'a storage with wrong options is not opened, and the option is named: %j',
  async (options) => {
    await expect(openStorage('memory:', options as object)).rejects.toThrow(/^openStorage: .*"(redisUrl|now)"/);
  },
);
