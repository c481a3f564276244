import { TollhouseError } from '../../../src/errors.js';
import { createFeeFuse, type FeeFuse, type FeeFuseParts } from '../../../src/facilitator/fee-fuse.js';
import { createMemoryCounters } from '../../../src/storage/memory-counters.js';
import { codeOf } from '../../helpers/code-of.js';
import { testClock } from '../../helpers/test-clock.js';

const HOUR_MS = 3_600_000;
const FEE = 10_001n;

const { now, advance } = testClock();
const told: number[] = [];
beforeEach(() => {
  told.length = 0;
});

function newFuse(maxFeesPerHour: bigint, counters?: FeeFuseParts['counters']): FeeFuse {
  const onBlown = (endsAt: number): void => void told.push(endsAt);
  return createFeeFuse({ network: 'solana-devnet', maxFeesPerHour, counters, now, onBlown });
}

/** How many of some fees, all at once, are let through. */
async function letThrough(fuses: readonly FeeFuse[], tries: number, fee = FEE): Promise<number> {
  const all = fuses.flatMap((fuse) => Array.from({ length: tries }, () => fuse.take(fee)));
  const outcomes = await Promise.allSettled(all);
  for (const it of outcomes) {
    if (it.status === 'rejected') expect(it.reason).toMatchObject({ code: 'fee_limit_reached' });
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

test('what is let through comes to the bound and never passes it, however much comes at once', async () => {
  expect(await letThrough([newFuse(1_000_000n)], 150)).toBe(99);
  expect(await letThrough([newFuse(10_001n)], 3)).toBe(1);
  expect(await letThrough([newFuse(10_000n)], 3)).toBe(0);
});

test('it tells once when, and until when, nothing is let through; then it lets through again', async () => {
  const fuse = newFuse(25_000n);
  const endsAt = now() + HOUR_MS;
  await fuse.take(FEE);
  await advance(HOUR_MS / 2);
  await fuse.take(FEE);
  expect(fuse.fault()).toBeUndefined();
  for (let round = 0; round < 3; round += 1) expect(await codeOf(fuse.take(FEE))).toBe('fee_limit_reached');
  expect(told).toEqual([endsAt]);
  expect(fuse.fault()).toBeInstanceOf(TollhouseError);
  expect(fuse.fault()?.context.retryAfterSeconds).toBe(1_800);

  await advance(HOUR_MS / 2 + 1);
  expect(fuse.fault()).toBeUndefined();
  expect(await letThrough([fuse], 3)).toBe(2);
  expect(told).toHaveLength(2);
});

test('to look whether there is room counts nothing', async () => {
  const fuse = newFuse(25_000n);
  for (let round = 0; round < 5; round += 1) await fuse.reach(FEE);
  expect(await letThrough([fuse], 3)).toBe(2);
  expect(await codeOf(fuse.reach(FEE))).toBe('fee_limit_reached');
});

test('a fee that is given back is there for the next, within its hour only', async () => {
  const fuse = newFuse(25_000n);
  const giveBack = await fuse.take(FEE);
  await fuse.take(FEE);
  expect(await codeOf(fuse.take(FEE))).toBe('fee_limit_reached');
  giveBack();
  expect(await letThrough([fuse], 2)).toBe(1);

  const late = newFuse(25_000n);
  const giveBackLate = await late.take(FEE);
  await advance(HOUR_MS + 1);
  await late.take(FEE);
  giveBackLate();
  expect(await letThrough([late], 2)).toBe(1);
});

test('instances that share counters keep one bound together, and ask for it a hundred times at most', async () => {
  const shared = createMemoryCounters({ now });
  let asked = 0;
  const counters: FeeFuseParts['counters'] = {
    increment: (...call) => {
      asked += 1;
      return shared.increment(...call);
    },
  };
  const fuses = Array.from({ length: 3 }, () => newFuse(10_000_000n, counters));
  const through = await letThrough(fuses, 500, 10_000n);
  expect(through).toBeLessThanOrEqual(1_000);
  expect(through).toBeGreaterThanOrEqual(980);
  expect(asked).toBeLessThanOrEqual(100 + fuses.length);
  expect(new Set(told).size).toBe(1);
});

test('while the counters cannot be reached, each process keeps the bound for itself', async () => {
  const away = { increment: () => Promise.reject(new TollhouseError('store_unavailable', 'away')) };
  expect(await letThrough([newFuse(25_000n, away), newFuse(25_000n, away)], 5)).toBe(4);
});

test('where the clock of the counters is behind, their hour goes on, and they are not asked again and again', async () => {
  let [asked, count] = [0, 0];
  const behind: FeeFuseParts['counters'] = {
    increment: async (_key, _window, by = 1) => {
      asked += 1;
      count += by;
      return { count, resetsAt: 1_000 };
    },
  };
  const fuse = newFuse(25_000n, behind);
  expect(await letThrough([fuse], 10)).toBe(2);
  expect(asked).toBe(3);
  await advance(1_001);
  expect(await letThrough([fuse], 10)).toBe(0);
  expect(asked).toBe(4);
});
