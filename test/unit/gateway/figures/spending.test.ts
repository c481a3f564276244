import type { Budget } from '../../../../src/gateway/figures/budgets.js';
import {
  createSpending,
  type Spending,
  type SpendingCall,
  type SpendingParts,
} from '../../../../src/gateway/figures/spending.js';
import { DAY_MS, dayOf } from '../../../../src/storage/calls/periods.js';
import { createSqlCallStore } from '../../../../src/storage/calls/sql-call-store.js';
import type { SqlDatabase } from '../../../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../../../src/storage/sql/sqlite/sqlite-database.js';
import { ALICE, LATE_MARCH, newCall, USDC, USDT } from '../../../contracts/call-samples.js';

let database: SqlDatabase;
beforeEach(async () => {
  database = await openSqlite(':memory:');
});
afterEach(() => database.close());

const describeToken = async (mint: string) => ({ symbol: mint === USDC ? 'USDC' : 'USDT', decimals: 6 });
const budget: Budget = { mint: USDC, window: 'day', limit: 1_000_000n, action: 'block' };
const key = { id: ALICE.keyId, owner: ALICE.owner };
const callOf = (amount: bigint, mint = USDC, at = LATE_MARCH) => ({ key, charge: { mint, amount }, at });

let payments = 0;

/** Holds back what a payment of its own is going to cost. */
function hold(spending: Spending, call: SpendingCall) {
  payments += 1;
  return spending.hold(call, `payment ${payments}`);
}

function open(budgets: readonly Budget[], parts: Partial<SpendingParts> = {}) {
  const book = createSqlCallStore(database);
  const spending = createSpending({ book, describeToken, budgets: () => budgets, ...parts });
  /** A call from its reservation to the last notice. */
  async function spend(amount: bigint, at = LATE_MARCH): Promise<void> {
    const call = callOf(amount, USDC, at);
    const held = await hold(spending, call);
    await book.finish(newCall({ charge: call.charge, at }), held === undefined ? {} : { reservationId: held.id });
    await spending.tell(call);
  }
  return { book, spending, spend };
}

async function told() {
  const text = 'select type, owner, data from tollhouse_event order by seq';
  const rows = await database.query({ name: 'test_events', text });
  return rows.map(({ type, owner, data }) => ({ type, owner, ...JSON.parse(String(data)) }));
}

test('owners are told at 80 % and at 100 %, once in a window, however many instances there are', async () => {
  const [one, other] = [open([budget]), open([budget])];
  await one.spend(799_999n);
  expect(await told()).toEqual([]);
  await one.spend(1n);
  await other.spend(100_000n);
  await one.spend(100_000n);
  await other.spending.tell(callOf(1n));
  const common = {
    ...{ owner: ALICE.owner, key_id: ALICE.keyId, token: 'USDC', mint: USDC, window: 'day' },
    ...{ limit: '1', limit_atomic: '1000000', window_ends_at: new Date(dayOf(LATE_MARCH) + DAY_MS).toISOString() },
  };

  expect(await told()).toEqual([
    { type: 'spending.threshold_reached', ...common, percent: 80, used: '0.8', used_atomic: '800000' },
    { type: 'spending.limit_reached', ...common, percent: 100, used: '1', used_atomic: '1000000' },
  ]);
  await one.spend(900_000n, LATE_MARCH + DAY_MS);
  expect(await told()).toHaveLength(3);
});

test('a call beyond the limit is refused with what is left and when to come back, and its owner is told once', async () => {
  const { spending, spend } = open([budget]);
  await spend(300_000n);
  for (let at = 0; at < 3; at += 1) {
    await expect(hold(spending, callOf(700_001n))).rejects.toMatchObject({
      code: 'spending_limit_reached',
      message:
        'The service key may spend 1 USDC a day, 0.3 USDC are spent or held back, and this call costs 0.700001 USDC. ' +
        'The next day begins at 2026-04-01T00:00:00.000Z.',
      context: { retryAfterSeconds: 1_800 },
    });
  }
  expect(await told()).toMatchObject([{ type: 'spending.limit_reached', used: '0.3' }]);
  await spend(700_000n);
});

test('a limit that never begins anew names no time to come back', async () => {
  const { spending } = open([{ ...budget, window: 'total' }]);
  const error = hold(spending, callOf(1_000_001n));
  await expect(error).rejects.toMatchObject({ message: expect.stringMatching(/in all.*costs 1\.000001 USDC\.$/) });
  await expect(error).rejects.not.toMatchObject({ context: { retryAfterSeconds: expect.anything() } });
});

test('a key with a limit in one token spends no other', async () => {
  const { spending } = open([budget]);
  await expect(hold(spending, callOf(1n, USDT))).rejects.toMatchObject({
    code: 'spending_limit_reached',
    message: 'The service key may spend USDC only, and this call costs USDT.',
  });
});

test('a budget that only notifies refuses nothing', async () => {
  const { spend, spending } = open([{ ...budget, action: 'notify' }]);
  await spend(900_000n);
  await spend(900_000n);
  expect(await told()).toMatchObject([{ percent: 80 }, { percent: 100 }]);
  expect(await hold(spending, callOf(1n, USDT))).toBeUndefined();
});

test("a key's own limit is its budget, and a key without one has none", async () => {
  const book = createSqlCallStore(database);
  const spending = createSpending({ book, describeToken });
  const limit = { limit: 5n, asset: USDC, token: 'USDC', decimals: 6, window: 'month', action: 'block' } as const;
  const call = { ...callOf(6n), key: { ...key, spending: limit } };
  await expect(hold(spending, call)).rejects.toMatchObject({ code: 'spending_limit_reached' });
  expect(await hold(spending, callOf(6n))).toBeUndefined();
  await spending.giveBack(undefined);
});

test('what was given back can be spent', async () => {
  const { spending } = open([budget]);
  const id = await hold(spending, callOf(1_000_000n));
  await expect(hold(spending, callOf(1n))).rejects.toMatchObject({ code: 'spending_limit_reached' });
  await spending.giveBack(id);
  expect(await hold(spending, callOf(1_000_000n))).toMatchObject({ isShared: false });
});

test('a database that does not answer lets nothing pass, and loses no notice', async () => {
  const { book, spending, spend } = open([budget]);
  await spend(1n);
  let isDown = true;
  const flaky = {
    ...book,
    notice: (...args: Parameters<typeof book.notice>) => (isDown ? fail() : book.notice(...args)),
  };
  const fail = () => Promise.reject(new Error('down'));
  const other = open([budget], { book: { ...flaky, reserve: fail } }).spending;
  await expect(hold(other, callOf(1n))).rejects.toThrow('down');

  await book.finish(newCall({ charge: { mint: USDC, amount: 900_000n } }));
  await other.tell(callOf(1n));
  expect(await told()).toEqual([]);
  isDown = false;
  await other.tell(callOf(1n));
  expect(await told()).toMatchObject([{ percent: 80 }]);
  await spending.tell(callOf(1n));
  expect(await told()).toHaveLength(1);
});
