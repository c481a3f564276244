import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { db } from '../../src/cli/books/db.js';
import { reconcileCommand } from '../../src/cli/books/reconcile.js';
import type { Command } from '../../src/cli/command.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { type CrashFixture, openCrashFixture, PRICE, type Seller } from '../helpers/crash/crash-fixture.js';
import { newOrder, type Order, type OrderDoor, orderAtGate, send } from '../helpers/crash/orders.js';
import { runCommand } from '../helpers/processes/run-command.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { type InstalledPostgres, startInstalledPostgres } from '../helpers/storage/installed-postgres.js';
import { until } from '../helpers/until.js';

const FUNDS = 1_000_000n;
const LEASE_MS = 3_000;
const DOORS: readonly OrderDoor[] = ['after', 'before', 'x402', 'native'];

describe.each(['SQLite', 'Postgres'])('a backup of %s that is restored after a kill', (store) => {
  const folder = testFolder();
  let fixture: CrashFixture;
  let server: InstalledPostgres | undefined;
  let seller: Seller;
  let refundWallet: Keypair;
  let [lost, restored]: string[] = [];
  const backup = folder.newPath('backup');
  const orders: Record<'before' | 'during' | 'since', Order[]> = { before: [], during: [], since: [] };
  const refunded: { readonly payer: string; readonly paymentId: string }[] = [];
  const [first, second] = [() => refunded[0]!, () => refunded[1]!];
  let isMissing = false;
  /** Of the refund that was made after the backup. */
  let signature: string;

  beforeAll(async () => {
    fixture = await openCrashFixture();
    if (store === 'Postgres') server = await startInstalledPostgres();
    isMissing = store === 'Postgres' && server === undefined;
    if (isMissing) return;
    const newUrl = async () => (await server?.emptyDatabase()) ?? `sqlite:${folder.newPath('db')}`;
    [lost, restored] = [await newUrl(), await newUrl()];
    refundWallet = await fixture.sandbox.createWallet({ usdc: '100' });
    seller = await start(lost);
    await tradeAndDie();
  });
  afterAll(async () => {
    await fixture.close();
    await server?.stop();
  });

  const start = (url: string) => fixture.startSeller(url, LEASE_MS, undefined, refundWallet);
  const tollhouse = (command: Command, url: string, ...args: readonly string[]) =>
    runCommand(
      command,
      {
        DATABASE_URL: url,
        SOLANA_NETWORK: 'solana-devnet',
        SOLANA_RPC_URL: fixture.sandbox.rpcUrl,
        FACILITATOR_KEYPAIR: bs58.encode(fixture.feePayer.secretKey),
        REFUND_KEYPAIR: bs58.encode(refundWallet.secretKey),
      },
      args,
    );
  const refund = async (paymentId: string) => {
    const answer = await fetch(`${seller.url}/refund/${paymentId}`, { method: 'POST' });
    const text = await answer.text();
    return { status: answer.status, body: answer.status === 200 ? JSON.parse(text) : {} };
  };
  const runsOf = ({ path }: Order) => fixture.handled.filter((it) => it === `run${path}`).length;

  async function buy(when: keyof typeof orders): Promise<void> {
    const made = await Promise.all(DOORS.map((door) => newOrder(fixture, seller, door, `${when}-${door}`)));
    orders[when].push(...made);
    const replies = await Promise.all(made.map((order) => send(seller.url, order)));
    expect(replies.map(({ served }) => served)).toEqual(made.map(() => true));
  }

  async function payInVain(what: string): Promise<void> {
    const payer = await fixture.sandbox.createWallet({ usdc: '1' });
    const order = await orderAtGate(fixture, payer, `/failing/${what}`);
    await fetch(seller.url + order.path, order.init);
    const address = payer.publicKey.toBase58();
    const storage = await openStorage(lost!);
    const [left] = await storage.passes.list(address);
    await storage.close();
    refunded.push({ payer: address, paymentId: left?.paymentId ?? '' });
  }

  /** Sells, is backed up meanwhile, sells and refunds on, and is killed. */
  async function tradeAndDie(): Promise<void> {
    await buy('before');
    await payInVain('first');
    await payInVain('second');
    const [made] = await Promise.all([tollhouse(db, lost!, 'backup', backup), buy('during')]);
    expect(made).toMatchObject({ code: 0, text: expect.stringContaining(`backup     ${backup}`) });
    await buy('since');
    const paid = await refund(first().paymentId);
    expect(paid).toMatchObject({ status: 200, body: { state: 'paid' } });
    signature = String(paid.body['signature']);
    await seller.kill();
    const done = await tollhouse(db, restored!, 'restore', backup);
    expect(done).toMatchObject({ code: 0, text: expect.stringMatching(/reconcile --book-lost/) });
    seller = await start(restored!);
  }

  /** What is asked of the chain just now is in progress: its payer comes again. */
  async function sendWhenDue(order: Parameters<typeof send>[1]) {
    let sent = await send(seller.url, order);
    await until(async () => {
      if (sent.status === 409) sent = await send(seller.url, order);
      return sent.status !== 409;
    });
    return sent;
  }

  const testHere = (name: string, run: () => Promise<void>) =>
    test(name, async () => {
      if (isMissing) console.warn('SKIPPED, no PostgreSQL server is installed beside pg_dump');
      else await run();
    });

  testHere('serves nobody a second time for what was paid before, while and after it was made', async () => {
    const all = [...orders.before, ...orders.during, ...orders.since];
    for (const order of all) {
      for (let times = 0; times < 2; times += 1) {
        const { served, replayed, status, code } = await sendWhenDue(order);
        // Who settles for himself is told what became of it; at a gate it is the response that was kept, or none.
        if (order.path === '/settle') continue;
        if (served) expect(replayed).toBe(true);
        else expect([status, code]).toEqual([402, expect.stringMatching(/^payment_(invalid|already_used)$/)]);
      }
    }
    for (const order of all) {
      expect(runsOf(order)).toBe(order.path === '/settle' ? 0 : 1);
      expect(fixture.held(order.wallet.publicKey.toBase58())).toBe(FUNDS - PRICE);
    }
  });

  testHere('serves again what was served before it was made, by the response that was kept', async () => {
    const [order] = orders.before;
    expect(await send(seller.url, order!)).toMatchObject({ status: 200, served: true, replayed: true });
  });

  testHere('sells on', () => buy('since'));

  testHere('pays no refund a second time that was paid since, and those that were not once', async () => {
    // Once nothing from before can land any more it is found on the chain, and is booked: what was left is out of use.
    const storage = await openStorage(restored!);
    expect((await refund(second().paymentId)).status).toBe(503);
    await until(async () => {
      fixture.sandbox.expireBlockhashes();
      return (await storage.refunds.ofPayment(first().paymentId))[0]?.state === 'paid';
    });
    const [booked] = await storage.refunds.ofPayment(first().paymentId);
    const passes = await Promise.all(refunded.map(({ paymentId }) => storage.passes.findByPayment(paymentId)));
    await storage.close();
    expect(booked?.signed?.signature).toBe(signature);
    expect(passes.map((it) => it?.left)).toEqual([0n, PRICE]);
    // The blockhash at hand died with the others.
    await until(async () => (await refund(second().paymentId)).body.state === 'paid');
    for (const { payer, paymentId } of refunded) {
      expect((await refund(paymentId)).status).not.toBe(200);
      expect(fixture.held(payer)).toBe(FUNDS);
    }
  });

  testHere('is reconciled: what came after it is found on the chain, and the books agree', async () => {
    const told = await tollhouse(reconcileCommand, restored!, '--book-lost');
    const again = await tollhouse(reconcileCommand, restored!);
    expect(told.text).toContain('landed while the books were lost, and is booked now');
    expect(again).toMatchObject({ code: 0, text: expect.stringMatching(/result +0 differences/) });
  });
});
