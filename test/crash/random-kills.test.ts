import bs58 from 'bs58';
import { MAX_RERUNS } from '../../src/storage/ledger/ledger.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { mistold, readBooks } from '../helpers/crash/books.js';
import { type CrashFixture, openCrashFixture, PRICE } from '../helpers/crash/crash-fixture.js';
import { overcharged, runCrashLoad } from '../helpers/crash/crash-load.js';
import { insist, type Order } from '../helpers/crash/orders.js';
import { endOf, runFile } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';

/** `CRASH_KILLS=50 npx jest test/crash/random-kills.test.ts` is the long run, on both stores; it prints its figures. */
const LONG = process.env['CRASH_KILLS'];
/** Fewer than it takes for a payment to be given up, whichever they meet. */
const KILLS = Number(LONG ?? MAX_RERUNS);
const STORES = LONG === undefined ? ['SQLite'] : ['SQLite', 'Postgres'];
const CLIENTS = 8;
const LEASE_MS = 6_000;
const PATIENCE_MS = 600_000 + KILLS * 60_000;
/** What somebody is told whose payment has nothing left. */
const OVER = ['payment_already_used', 'pass_used_up'];

describe.each(STORES)(`${KILLS} kills at random while ${CLIENTS} clients buy, on %s`, (store) => {
  const folder = testFolder();
  let fixture: CrashFixture;
  let server: PostgresServer | undefined;
  let url: string;
  let storage: Storage;

  beforeAll(async () => {
    fixture = await openCrashFixture();
    if (store === 'Postgres') server = await startPostgres();
    url = (await server?.newDatabase()) ?? `sqlite:${folder.newPath('db')}`;
    storage = await openStorage(url);
  }, PATIENCE_MS);
  afterAll(async () => {
    await fixture.close();
    await storage.close();
    await server?.stop();
  });

  /** `tollhouse reconcile`, as its user runs it. */
  const reconcile = () =>
    endOf(
      runFile('src/cli/main.ts', ['reconcile'], {
        DATABASE_URL: url,
        SOLANA_NETWORK: 'solana-devnet',
        SOLANA_RPC_URL: fixture.sandbox.rpcUrl,
        FACILITATOR_KEYPAIR: bs58.encode(fixture.feePayer.secretKey),
      }),
    );

  /** Payments that have bought nothing yet, and those whose runs were ended by kills as often as any is run again. */
  async function unusualPayments() {
    const text = `select state, reruns, payer from tollhouse_payment where state <> 'served' or reruns >= ${MAX_RERUNS}`;
    const rows = await storage.database.query({ name: 'test_unusual_payments', text });
    return rows.map(({ state, reruns, payer }) => ({ state, payer: String(payer), reruns: Number(reruns) }));
  }

  const payerOf = ({ order }: { readonly order: Order }) => order.wallet.publicKey.toBase58();

  test(
    'everything that was paid is served, once, and the books are the chain',
    async () => {
      const load = { database: url, kills: KILLS, clients: CLIENTS, leaseMs: LEASE_MS, random: Math.random };
      const { bought, survivor } = await runCrashLoad(fixture, load);
      // Of many kills three may meet one payment, which is credit of its token then, and a fourth the request by that.
      const triedOut = (await unusualPayments()).filter(({ reruns }) => reruns >= MAX_RERUNS);
      const failed = bought.filter(({ replies }) => replies.at(-1)?.served !== true);
      if (KILLS <= MAX_RERUNS) expect(failed).toEqual([]);
      const codes = failed.map(({ replies }) => String(replies.at(-1)?.code));
      expect(codes.filter((code) => !OVER.includes(code))).toEqual([]);
      expect(triedOut.map(({ payer }) => payer)).toEqual(expect.arrayContaining(failed.map(payerOf)));
      expect(overcharged(fixture, bought)).toEqual([]);
      expect(fixture.held(fixture.payTo)).toBe(PRICE * BigInt(bought.length));

      // A stream that left in the very moment of a kill is not in the books yet. Its payer may have it again, once.
      const unnoted = (await unusualPayments()).filter(({ state }) => state !== 'served');
      expect(unnoted.map(({ state }) => state)).toEqual(unnoted.map(() => 'confirmed'));
      const again = (await Promise.all(bought.map(({ order }) => insist(() => survivor.url, order)))).flatMap((it) =>
        it.slice(-1),
      );
      const twice = again.filter(({ served, replayed }) => served && !replayed);
      expect(twice.length).toBeLessThanOrEqual(unnoted.length);
      for (const { served, code } of again) if (!served) expect(OVER).toContain(code);

      const entries = await readBooks(storage.database);
      expect(entries.map(({ state }) => state)).toEqual(bought.map(() => 'served'));
      expect(mistold(entries)).toEqual([]);
      expect(overcharged(fixture, bought)).toEqual([]);
      const { code, text } = await reconcile();
      expect(text).toMatch(/result +0 differences, 0 payments not over yet/);
      expect(code).toBe(0);
      if (LONG !== undefined) report(bought.length, bought.flatMap(({ replies }) => replies).length, twice.length);
    },
    PATIENCE_MS,
  );

  function report(payments: number, requests: number, twice: number): void {
    const cut = `${requests - payments} requests were cut or told to come again`;
    process.stderr.write(
      `${store}: ${KILLS} kills, ${payments} payments, ${fixture.handled.length} runs of handlers; ${cut}; ${twice} answers left in the moment of a kill and were had again\n`,
    );
  }
});
