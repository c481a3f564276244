import bs58 from 'bs58';
import { type ReconcileParts, reconcile } from '../../../../src/facilitator/reconcile/reconcile.js';
import type { HistoryEntry } from '../../../../src/solana/rpc/landed-transaction.js';
import type { SignatureState } from '../../../../src/solana/rpc/rpc.js';
import { createBookReaders } from '../../../../src/storage/books/book-readers.js';
import type { BookedPayment, PaymentRange } from '../../../../src/storage/books/payment-reader.js';
import { createMemoryLedger } from '../../../../src/storage/ledger/memory-ledger.js';
import type { SqlDatabase } from '../../../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../../../src/storage/sql/sqlite/sqlite-database.js';
import { newClaim } from '../../../contracts/ledger-samples.js';
import { landedAs, NETWORK, newRequest, paying } from '../../../helpers/fixtures/payment-service-fixture.js';

const STARTED = 1_700_000_000_000;
const OURS = 'fee payer';
const LANDED: SignatureState = { slot: 12, err: null, commitment: 'finalized' };
const FOREIGN = 'paid for by us, and not in the books';
const { decoded } = paying(newRequest(0));

/** The other books say nothing. */
let empty: SqlDatabase;
beforeAll(async () => {
  empty = await openSqlite(':memory:');
});
afterAll(() => empty.close());

let count = 0;

/** Signatures differ from the beginning, as those of a chain do. */
function newSignature(): string {
  count += 1;
  const bytes = Buffer.alloc(64, 5);
  bytes.writeUInt32BE(0x10_00_00_00 + count);
  return bs58.encode(bytes);
}

function booked(change: Partial<BookedPayment> = {}): BookedPayment {
  const { lease: _lease, leaseMs: _leaseMs, ...payment } = newClaim();
  return { ...payment, state: 'served', signature: newSignature(), claimedAt: 50_000_000, ...change };
}

function unsigned(): BookedPayment {
  const { signature: _signature, ...payment } = booked({ state: 'claimed' });
  return payment;
}

function entry(change: Partial<HistoryEntry> = {}): HistoryEntry {
  return { signature: newSignature(), slot: 9, failed: false, blockTime: 60_000_000, ...change };
}

interface Script {
  readonly books?: readonly (readonly BookedPayment[])[];
  /** What is booked while the chain is being read. */
  readonly late?: readonly (readonly BookedPayment[])[];
  readonly payouts?: readonly string[];
  /** Pages of the fee payer's history. */
  readonly history?: readonly (readonly HistoryEntry[])[];
  readonly foreign?: readonly string[];
  readonly unknown?: readonly string[];
  /** How many of its accounts sign a transaction. Default 1. */
  readonly signers?: number;
  readonly from?: number;
}

async function run(script: Script) {
  const { books = [], late = [], payouts = [], history = [[]], foreign = [], unknown = [], signers = 1, from } = script;
  const ranges: (PaymentRange | undefined)[] = [];
  const [asked, shown, told] = [[] as unknown[], [] as string[], [] as unknown[]];
  const parts: ReconcileParts = {
    ...createBookReaders(empty),
    network: NETWORK,
    amounts: false,
    feePayers: [OURS],
    now: () => STARTED,
    ledger: createMemoryLedger({ now: () => STARTED }),
    reader: {
      counts: async () => [],
      async *pages(range) {
        ranges.push(range);
        yield* ranges.length === 1 ? books : late;
      },
      async *payouts() {
        yield [];
      },
      async *payoutSignatures() {
        yield payouts;
      },
    },
    rpc: {
      getTokenAccountsByOwner: async () => [],
      getSignatureStatuses: async (all) => ({ slot: 20, states: all.map(() => LANDED) }),
      async getTransaction(signature) {
        shown.push(signature);
        if (unknown.includes(signature)) return null;
        const accounts = foreign.includes(signature) ? ['another', OURS] : [OURS];
        return landedAs(decoded, { accounts, requiredSignatures: signers });
      },
      async getHistory(address, before) {
        asked.push([address, before]);
        return history[asked.length - 1] ?? [];
      },
    },
  };
  const found = await reconcile(parts, from, {
    onOpen: ({ id }, detail) => told.push(['open', id, detail]),
    onNote: ({ ids, detail }) => told.push(['note', ...ids, detail]),
    onDifference: ({ kind, ids, detail }) => told.push(['difference', kind, ...ids, detail]),
    onProgress: (text) => told.push(text),
  });
  return { found, ranges, asked, shown, told };
}

test('books and chain that are the same differ in nothing', async () => {
  const [one, other, open] = [booked(), booked({ claimedAt: 70_000_000 }), unsigned()];
  const payout = newSignature();
  const history = [[one, other, { signature: payout }].map(({ signature }) => entry({ signature: signature ?? '' }))];
  const at = await run({ books: [[one, open], [other]], payouts: [payout], history });
  expect(at.found).toEqual({ payments: 3, payouts: 0, refunds: 0, transactions: 3, open: 1, differences: 0 });
  expect(at.told).toEqual([['open', open.id, 'not sent yet'], '2 payments', '3 payments', '3 transactions']);
  expect(at.ranges).toEqual([{ from: 0 }, { from: STARTED - 600_000 }]);
  expect([at.asked, at.shown]).toEqual([[[OURS, undefined]], []]);
});

test('what a fee payer has paid for is to be in the books, unless it failed', async () => {
  const [strange, failed, gift, hidden] = [entry(), entry({ failed: true }), entry(), entry()];
  const history = [[strange, failed, gift, hidden]];
  const at = await run({ history, foreign: [gift.signature], unknown: [hidden.signature] });
  expect(at.found).toEqual({ payments: 0, payouts: 0, refunds: 0, transactions: 4, open: 0, differences: 2 });
  const differences = [strange, hidden].map(({ signature }) => ['difference', 'transaction', signature, FOREIGN]);
  expect(at.told).toEqual(['4 transactions', ...differences]);
  expect(at.shown).toEqual([strange, gift, hidden].map(({ signature }) => signature));
});

test('what begins like a signature in the books is not in them by that', async () => {
  const paid = booked();
  const alike = `${paid.signature?.slice(0, 40)}${newSignature().slice(40)}`;
  const at = await run({ books: [[paid]], history: [[entry({ signature: alike })]] });
  expect(at.told).toContainEqual(['difference', 'transaction', alike, FOREIGN]);
});

test('what a fee payer has signed is to be in the books, though another key pays the fee', async () => {
  const strange = entry();
  const at = await run({ history: [[strange]], foreign: [strange.signature], signers: 2 });
  expect(at.told).toContainEqual(['difference', 'transaction', strange.signature, FOREIGN]);
});

test('what was booked meanwhile is in the books', async () => {
  const [late, strange] = [booked(), entry()];
  const history = [[entry({ signature: late.signature ?? '' }), strange]];
  const at = await run({ history, late: [[unsigned(), late]] });
  expect(at.found.differences).toBe(1);
  expect(at.told.slice(1)).toEqual([['difference', 'transaction', strange.signature, FOREIGN]]);
});

test('a payment that is wrong is told with what is known of it', async () => {
  const { signature: _signature, ...lost } = booked();
  const landed = booked({ state: 'expired' });
  const at = await run({ books: [[lost, landed]] });
  expect(at.found).toEqual({ payments: 2, payouts: 0, refunds: 0, transactions: 0, open: 0, differences: 2 });
  expect(at.told.slice(0, 2)).toEqual([
    ['difference', 'payment', lost.id, 'booked as paid, and no transaction is named'],
    ['difference', 'payment', landed.id, landed.signature, 'booked as expired, and it has landed'],
  ]);
});

describe('a history', () => {
  const full = (change: Partial<HistoryEntry> = {}) =>
    Array.from({ length: 1_000 }, () => entry({ failed: true, ...change }));

  test('is read since ten seconds before the first payment, or the time that was named', async () => {
    const history = [[{ blockTime: 49_990_000 }, { blockTime: undefined }, { blockTime: 49_989_999 }].map(entry)];
    const books = [[booked(), booked({ claimedAt: 55_000_000 })], [booked({ claimedAt: 56_000_000 })]];
    expect((await run({ books, history })).found.transactions).toBe(2);
    const named = await run({ history, from: 50_000_000 });
    expect(named.found.transactions).toBe(2);
    expect(named.ranges[0]).toEqual({ from: 49_400_000 });
  });

  test('is read on while its pages are full', async () => {
    const history = [full(), full(), [entry({ failed: true })]];
    const at = await run({ history });
    expect(at.asked).toEqual(
      [undefined, history[0]?.at(-1)?.signature, history[1]?.at(-1)?.signature].map((it) => [OURS, it]),
    );
    expect(at.told).toEqual(['1000 transactions', '2000 transactions', '2001 transactions']);
  });

  test('is read no further than to the time', async () => {
    const old = entry({ blockTime: 1 });
    const at = await run({ history: [[...full().slice(1), old], full()], from: 50_000_000 });
    expect([at.asked.length, at.found.transactions]).toEqual([1, 999]);
  });
});
