import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import type { FacilitatorOptions } from '../../../src/facilitator/facilitator-options.js';
import { type Reconciliation, reconcile } from '../../../src/facilitator/reconcile/reconcile.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { SandboxOptions } from '../../../src/sandbox/start-sandbox.js';
import { createSolanaRpc } from '../../../src/solana/rpc/rpc-client.js';
import { createBookReaders } from '../../../src/storage/books/book-readers.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../fixtures/toll-fixture.js';
import { mistold, readBooks } from './books.js';
import { PRICE, USDC } from './crash-fixture.js';
import { insist, type Order, orderAtGate, type Reply, send } from './orders.js';

/** What one wallet holds before it pays. */
const FUNDS = 1_000_000n;
/** What a settlement costs the fee payer, in lamports: two signatures, and the priority that clients ask for. */
const FEE = 10_001n;

/** A seller with books of its own on a chain that others use as well, and two gated routes, `/after` and `/before`. */
export interface Shop {
  readonly url: string;
  readonly facilitator: EmbeddedFacilitator;
  readonly storage: Storage;
  /** Called where a handler has begun; the response waits for it. */
  inHandler: () => void | Promise<void>;
  /** Signed payments of so many new wallets: every other one for a route that settles after, or before, its handler. */
  orders(count: number): Promise<readonly Order[]>;
  /** Sends them all at once. */
  send(orders: readonly Order[]): Promise<readonly Reply[]>;
  /**
   * Expects that each reply is one of those, given as status and code, that a payer who must come again is told when, and
   * nobody else.
   */
  expectTold(replies: readonly Reply[], either: readonly string[]): void;
  /** Sends each until it is decided; answers the last reply of each. */
  insist(orders: readonly Order[]): Promise<readonly Reply[]>;
  /**
   * Sends each payment once more, until it is decided: whoever was served already gets the same again, everybody else is
   * served now. Then the books are compared.
   */
  expectGood(orders: readonly Order[], replies: readonly Reply[]): Promise<void>;
  /**
   * Expects that who was served has paid the price and nobody else anything, that the books say what the chain says, and
   * that the fee payer has lost network fees and nothing else.
   */
  expectFair(orders: readonly Order[], served: readonly boolean[]): Promise<void>;
}

/** A chain, and shops on it. */
export interface FaultFixture extends TollFixture {
  openShop(options?: Partial<FacilitatorOptions> & { readonly clock?: () => number }): Promise<Shop>;
}

/** Blockhashes live long, unless told: payments must outlive outages on a busy machine. A slot lasts 20 ms. */
export async function openFaultFixture(options: SandboxOptions = {}): Promise<FaultFixture> {
  const fixture = await openTollFixture({ maxBlockhashAgeBlocks: 10_000, ...options });
  const storages: Storage[] = [];
  return {
    ...fixture,
    async openShop({ clock, ...options } = {}) {
      const now = clock === undefined ? {} : { now: clock };
      const storage = await openStorage('memory:', now);
      storages.push(storage);
      return openShop(fixture, storage, { ...now, ...options });
    },
    async close() {
      await fixture.close();
      for (const storage of storages) await storage.close();
    },
  };
}

async function openShop(fixture: TollFixture, storage: Storage, options: Partial<FacilitatorOptions>): Promise<Shop> {
  const { sandbox } = fixture;
  const feePayer = await sandbox.createWallet({ sol: '1' });
  const payTo = (await sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
  const facilitator = fixture.facilitatorWith({
    keypair: feePayer,
    ledger: storage.ledger,
    idempotency: storage.idempotency,
    blockhashHints: false,
    ...options,
  });
  const url = await fixture.serve((app) => {
    for (const settle of ['after', 'before'] as const) {
      app.get(`/${settle}`, requirePayment({ facilitator, payTo, price: '$0.01', settle }), async (_req, res) => {
        await shop.inHandler();
        res.send('paid');
      });
    }
  });
  const seller = { sandbox, feePayer, payTo };
  const wallet = feePayer.publicKey.toBase58();
  const funds = sandbox.balance(wallet);

  const shop: Shop = {
    url,
    facilitator,
    storage,
    inHandler: () => undefined,
    orders: (count) =>
      Promise.all(
        Array.from({ length: count }, async (_, at) => {
          const payer = await sandbox.createWallet({ usdc: '1' });
          return orderAtGate(seller, payer, at % 2 === 0 ? '/after' : '/before');
        }),
      ),
    send: (orders) => Promise.all(orders.map((order) => send(url, order))),
    expectTold(replies, either) {
      const told = replies.map(({ status, code, retryAfter }) => {
        const mayComeAgain = status === 503 || status === 409;
        expect((retryAfter ?? 0) > 0).toBe(mayComeAgain);
        return [status, code].filter((it) => it !== undefined).join(' ');
      });
      expect(told.filter((it) => !either.includes(it))).toEqual([]);
    },
    insist: (orders) => Promise.all(orders.map(async (order) => lastOf(await insist(() => url, order)))),
    async expectGood(orders, replies) {
      const again = await shop.insist(orders);
      expect(again.map(({ served, code }) => (served ? 'served' : code))).toEqual(orders.map(() => 'served'));
      for (const [at, { served }] of replies.entries()) if (served) expect(again[at]?.replayed).toBe(true);
      await shop.expectFair(
        orders,
        orders.map(() => true),
      );
    },
    async expectFair(orders, served) {
      const spent = orders.map((order) => FUNDS - sandbox.tokenBalance(order.wallet.publicKey.toBase58(), USDC));
      expect(spent).toEqual(served.map((it) => (it ? PRICE : 0n)));
      const sold = served.filter((it) => it).length;
      expect(sandbox.tokenBalance(payTo, USDC)).toBe(PRICE * BigInt(sold));
      const entries = await readBooks(storage.database);
      expect(entries.filter(({ state }) => state === 'served')).toHaveLength(sold);
      expect(mistold(entries)).toEqual([]);
      const { differences, open, transactions } = await compare(fixture, storage, wallet);
      expect({ differences, open }).toEqual({ differences: [], open: 0 });
      expect(funds - sandbox.balance(wallet)).toBe(FEE * BigInt(transactions));
    },
  };
  return shop;
}

function lastOf(replies: readonly Reply[]): Reply {
  return replies.at(-1) ?? { served: false, replayed: false };
}

/** Compares the books with the chain, as `tollhouse reconcile` does. */
async function compare(
  { sandbox }: TollFixture,
  { database, ledger }: Storage,
  feePayer: string,
): Promise<Omit<Reconciliation, 'differences'> & { readonly differences: readonly string[] }> {
  const rpc = createSolanaRpc({ urls: sandbox.rpcUrl });
  const differences: string[] = [];
  const { network } = sandbox;
  const parts = {
    rpc,
    ledger,
    ...createBookReaders(database),
    network,
    amounts: true,
    feePayers: [feePayer],
    now: Date.now,
  };
  // Not since the first booking: the clock of the books may have been wrong.
  const found = await reconcile(parts, 0, {
    onOpen: () => undefined,
    onNote: () => undefined,
    onDifference: ({ ids, detail }) => void differences.push(`${ids.join(' ')}: ${detail}`),
    onProgress: () => undefined,
  });
  await rpc.close();
  return { ...found, differences };
}
