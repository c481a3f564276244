import { setTimeout as pause } from 'node:timers/promises';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { type CrashFixture, openCrashFixture, PRICE, type Seller } from '../helpers/crash/crash-fixture.js';
import { orderAtGate } from '../helpers/crash/orders.js';
import type { Passage } from '../helpers/nodes/rpc-proxy.js';
import { endOf, runFile } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { until } from '../helpers/until.js';

/** `REFUND_KILLS=30 npx jest test/crash/refunds.test.ts` is a long run: so many kills at random beside those at each step. */
const RANDOM_KILLS = Number(process.env['REFUND_KILLS'] ?? 3);
const LEASE_MS = 3_000;
const PATIENCE_MS = 600_000 + RANDOM_KILLS * 60_000;
/** Refunds that are begun at once before each kill, and the longest that is waited for a kill at random, in milliseconds. */
const AT_ONCE = 3;
const MOST_MS = 150;
/** Blocks until what has ended is final. */
const FINALITY = 40;

/** Where a process is killed: a call to the chain, and what becomes of that. */
interface Moment {
  readonly when: string;
  readonly method?: string;
  readonly passage?: Passage;
  /** What was signed can land no more afterwards. */
  readonly expires?: true;
}

const MOMENTS: readonly Moment[] = [
  { when: 'when its credit was taken and nothing was signed', method: 'simulateTransaction', passage: 'hold' },
  { when: 'when it was signed and not sent', method: 'sendTransaction', passage: 'hold' },
  { when: 'when it was signed, and can land no more', method: 'sendTransaction', passage: 'hold', expires: true },
  { when: 'when it was sent, and the process does not know', method: 'sendTransaction', passage: 'unanswered' },
  { when: 'when it has landed, and the process does not know', method: 'getSignatureStatuses', passage: 'hold' },
  ...Array.from({ length: RANDOM_KILLS }, () => ({ when: 'at random' })),
];

describe.each(['SQLite', 'Postgres'])('refunds whose process is killed, on %s', (store) => {
  const folder = testFolder();
  let fixture: CrashFixture;
  let server: PostgresServer | undefined;
  let url: string;
  let storage: Storage;
  let wallet: Keypair;
  let seller: Seller;
  const asked: { readonly payer: string; readonly paymentId: string }[] = [];

  beforeAll(async () => {
    fixture = await openCrashFixture();
    if (store === 'Postgres') server = await startPostgres();
    url = (await server?.newDatabase()) ?? `sqlite:${folder.newPath('db')}`;
    storage = await openStorage(url);
    wallet = await fixture.sandbox.createWallet({ usdc: '100' });
    seller = await start();
  }, PATIENCE_MS);
  afterAll(async () => {
    await fixture.close();
    await storage.close();
    await server?.stop();
  });

  const start = () => fixture.startSeller(url, LEASE_MS, undefined, wallet);
  const environment = () => ({
    DATABASE_URL: url,
    SOLANA_NETWORK: 'solana-devnet',
    SOLANA_RPC_URL: fixture.proxy.url,
    FACILITATOR_KEYPAIR: bs58.encode(fixture.feePayer.secretKey),
    REFUND_KEYPAIR: bs58.encode(wallet.secretKey),
  });

  /** Pays for a request that fails. */
  async function payInVain(what: string) {
    const payer = await fixture.sandbox.createWallet({ usdc: '1' });
    const { path, init } = await orderAtGate(fixture, payer, `/failing/${what}`);
    const answer = await fetch(seller.url + path, init);
    const address = payer.publicKey.toBase58();
    const [left] = await storage.passes.list(address);
    if (left === undefined) throw new Error(`nothing is left of what was paid: ${answer.status}`);
    const paid = { payer: address, paymentId: left.paymentId };
    asked.push(paid);
    return paid;
  }

  const refund = (paymentId: string) =>
    fetch(`${seller.url}/refund/${paymentId}`, { method: 'POST' }).catch(() => undefined);
  const query = (name: string, text: string) => storage.database.query({ name: `test_${name}`, text });
  const under = () => query('open_refunds', `select id from tollhouse_refund where state not in ('paid', 'failed')`);

  /** Begins refunds, and kills the process when it has come so far. */
  async function killAt(
    { method, passage = 'pass', expires }: Moment,
    paid: readonly { readonly paymentId: string }[],
  ) {
    let reached = method === undefined;
    fixture.proxy.decide = (call) => {
      if (call.method !== method) return 'pass';
      reached = true;
      return passage;
    };
    const all = paid.map(({ paymentId }) => refund(paymentId));
    await until(() => reached);
    await pause(Math.random() * MOST_MS);
    await seller.kill();
    await Promise.all(all);
    fixture.proxy.decide = () => 'pass';
    if (!expires) return;
    fixture.sandbox.expireBlockhashes();
    fixture.sandbox.advanceSlots(FINALITY);
  }

  /** `tollhouse reconcile`, as its user runs it. */
  const reconcile = () => endOf(runFile('src/cli/main.ts', ['reconcile'], environment()));

  test.each(MOMENTS)(
    '$when are paid once, and none is lost',
    async (moment) => {
      const paid = await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => payInVain(`${asked.length}-${at}`)));
      await killAt(moment, paid);
      seller = await start();
      await until(async () => (await under()).length === 0);
      // What was not begun is asked for again; what was paid is refused.
      await Promise.all(paid.map(({ paymentId }) => refund(paymentId)));
      await until(async () => (await under()).length === 0);
      await Promise.all(paid.map(({ paymentId }) => refund(paymentId)));
      for (const { payer, paymentId } of paid) {
        const states = (await storage.refunds.ofPayment(paymentId)).map(({ state }) => state);
        // What could land no more was signed anew, and not given up.
        expect([states, fixture.held(payer)]).toEqual([['paid'], 1_000_000n]);
        expect(await storage.passes.findByPayment(paymentId)).toMatchObject({ left: 0n, over: 'used_up' });
      }
    },
    PATIENCE_MS,
  );

  test(
    'by "tollhouse refund" are brought to their end by a server, and the books are the chain',
    async () => {
      const { payer, paymentId } = await payInVain('server');
      await seller.kill();
      let sent = 0;
      fixture.proxy.decide = ({ method }) => {
        if (method !== 'sendTransaction') return 'pass';
        sent += 1;
        return 'hold';
      };
      const command = runFile('src/cli/main.ts', ['refund', paymentId], environment());
      const ended = endOf(command);
      await until(() => sent > 0);
      command.kill('SIGKILL');
      await ended;
      expect(await storage.refunds.ofPayment(paymentId)).toMatchObject([{ state: 'broadcast' }]);
      expect(fixture.held(payer)).toBe(1_000_000n - PRICE);

      fixture.proxy.decide = () => 'pass';
      runFile('src/cli/main.ts', ['serve', '--port', '0'], { ...environment(), LOG_LEVEL: 'silent' });
      await until(async () => (await storage.refunds.ofPayment(paymentId))[0]?.state === 'paid');
      expect([fixture.held(payer), await storage.refunds.ofPayment(paymentId)]).toMatchObject([
        1_000_000n,
        { length: 1 },
      ]);

      expect(fixture.held(wallet.publicKey.toBase58())).toBe(100_000_000n - PRICE * BigInt(asked.length));
      const { code, text } = await reconcile();
      expect(text).toContain(`${asked.length} payments, 0 payouts`);
      expect(text).toMatch(/result +0 differences, 0 payments not over yet/);
      expect([code, text]).toEqual([0, expect.not.stringMatching(/^(note|DIFFERENT)/m)]);
    },
    PATIENCE_MS,
  );
});
