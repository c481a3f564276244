import fc from 'fast-check';
import { TollhouseError } from '../../../../src/errors/errors.js';
import {
  type CountedFee,
  createFeeLimit,
  type FeeLimit,
  type FeeLimitParts,
} from '../../../../src/facilitator/sponsorship/fee-limit.js';
import type { FeeParties } from '../../../../src/facilitator/sponsorship/fee-shares.js';
import type { Counters } from '../../../../src/storage/counters/counters.js';
import { createMemoryCounters } from '../../../../src/storage/counters/memory-counters.js';
import { codeOf } from '../../../helpers/code-of.js';
import { testClock } from '../../../helpers/test-clock.js';

const HOUR_MS = 3_600_000;
const FEE = 10_001n;

const { now, advance } = testClock();
const told: number[] = [];
beforeEach(() => {
  told.length = 0;
});

function newLimit(maxFeeLamportsPerHour: bigint, counters?: FeeLimitParts['counters']): FeeLimit {
  const onLimitReached = (endsAt: number): void => void told.push(endsAt);
  return createFeeLimit({ network: 'solana-devnet', maxFeeLamportsPerHour, counters, now, onLimitReached });
}

/** How many of some fees, all at once, are let through. */
async function letThrough(limits: readonly FeeLimit[], tries: number, fee = FEE): Promise<number> {
  const all = limits.flatMap((limit) => Array.from({ length: tries }, () => limit.take(fee)));
  const outcomes = await Promise.allSettled(all);
  for (const it of outcomes) {
    if (it.status === 'rejected') expect(it.reason).toMatchObject({ code: 'fee_limit_reached' });
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

async function counted(limit: FeeLimit, parties: FeeParties = {}, fee = FEE): Promise<CountedFee> {
  const count = await limit.take(fee, parties);
  if (!count.ok) throw new Error(count.refusal.message);
  return count.fee;
}

test('what is let through comes to the bound and never passes it, however much comes at once', async () => {
  expect(await letThrough([newLimit(1_000_000n)], 150)).toBe(99);
  expect(await letThrough([newLimit(10_001n)], 3)).toBe(1);
  expect(await letThrough([newLimit(10_000n)], 3)).toBe(0);
});

test('it tells once when, and until when, nothing is let through; then it lets through again', async () => {
  const limit = newLimit(25_000n);
  const endsAt = now() + HOUR_MS;
  await limit.take(FEE);
  await advance(HOUR_MS / 2);
  await limit.take(FEE);
  expect(limit.fault()).toBeUndefined();
  for (let round = 0; round < 3; round += 1) expect(await codeOf(limit.take(FEE))).toBe('fee_limit_reached');
  expect(told).toEqual([endsAt]);
  expect(limit.fault()).toBeInstanceOf(TollhouseError);
  expect(limit.fault()?.context.retryAfterSeconds).toBe(1_800);

  await advance(HOUR_MS / 2 + 1);
  expect(limit.fault()).toBeUndefined();
  expect(await letThrough([limit], 3)).toBe(2);
  expect(told).toHaveLength(2);
});

test('to look whether there is room counts nothing', async () => {
  const limit = newLimit(25_000n);
  for (let round = 0; round < 5; round += 1) await limit.reach(FEE);
  expect(await letThrough([limit], 3)).toBe(2);
  expect(await codeOf(limit.reach(FEE))).toBe('fee_limit_reached');
});

test('a fee that is given back is there for the next, within its hour only', async () => {
  const limit = newLimit(25_000n);
  const { giveBack } = await counted(limit);
  await limit.take(FEE);
  expect(await codeOf(limit.take(FEE))).toBe('fee_limit_reached');
  giveBack();
  expect(await letThrough([limit], 2)).toBe(1);

  const late = newLimit(25_000n);
  const { giveBack: giveBackLate } = await counted(late);
  await advance(HOUR_MS + 1);
  await late.take(FEE);
  giveBackLate();
  expect(await letThrough([late], 2)).toBe(1);
});

test('instances that share counters keep one bound together, and ask for it a hundred times at most', async () => {
  const shared = createMemoryCounters({ now });
  let asked = 0;
  const counters: FeeLimitParts['counters'] = {
    increment: (...call) => {
      asked += 1;
      return shared.increment(...call);
    },
  };
  const limits = Array.from({ length: 3 }, () => newLimit(10_000_000n, counters));
  const through = await letThrough(limits, 500, 10_000n);
  expect(through).toBeLessThanOrEqual(1_000);
  expect(through).toBeGreaterThanOrEqual(980);
  expect(asked).toBeLessThanOrEqual(100 + limits.length);
  expect(new Set(told).size).toBe(1);
});

test('while the counters cannot be reached, each process keeps the bound for itself', async () => {
  const away = { increment: () => Promise.reject(new TollhouseError('store_unavailable', 'away')) };
  expect(await letThrough([newLimit(25_000n, away), newLimit(25_000n, away)], 5)).toBe(4);
});

describe('what this process has spent binds it', () => {
  /** Ten fees, and a little. */
  const TEN = 100_100n;

  /** Counters that can lose all that was written to them, and go away. */
  function lossyCounters() {
    let [counters, isAway] = [createMemoryCounters({ now }), false];
    const increment: Counters['increment'] = async (...call) => {
      if (isAway) throw new TollhouseError('store_unavailable', 'away');
      return counters.increment(...call);
    };
    return {
      increment,
      lose() {
        counters = createMemoryCounters({ now });
      },
      leave() {
        isAway = true;
      },
      comeBack() {
        isAway = false;
      },
    };
  }

  test('when the counters lose their writes, go away, and come back empty, in whatever order', async () => {
    for (const order of ['lose leave comeBack', 'leave comeBack lose', 'leave lose comeBack'] as const) {
      const counters = lossyCounters();
      const limit = newLimit(TEN, counters);
      expect(await letThrough([limit], 4)).toBe(4);
      let through = 4;
      for (const step of order.split(' ') as ('lose' | 'leave' | 'comeBack')[]) {
        counters[step]();
        await advance(1_000);
        through += await letThrough([limit], 3);
      }
      expect([order, through, await letThrough([limit], 20)]).toEqual([order, 10, 0]);
      expect(limit.load()).toEqual({ spent: 100_010, limit: 100_100 });
      expect(limit.fault()?.context.retryAfterSeconds).toBeLessThan(3_600);
      await advance(HOUR_MS + 1);
      expect(await letThrough([limit], 20)).toBe(10);
    }
  });

  test('in its share for a payer as in the whole', async () => {
    const counters = lossyCounters();
    const limit = newLimit(TEN, counters);
    const taken = async () => (await limit.take(FEE, { payer: 'payer' })).ok;
    expect(await taken()).toBe(true);
    counters.lose();
    expect([await taken(), await taken()]).toEqual([true, false]);
    counters.leave();
    expect(await taken()).toBe(false);
    expect(await limit.take(FEE, { payer: 'another' })).toMatchObject({ ok: true });
  });

  test('and what is given back is there again, and what others have spent binds it too', async () => {
    const counters = lossyCounters();
    const [limit, other] = [newLimit(TEN, counters), newLimit(TEN, counters)];
    const given = await counted(limit);
    counters.lose();
    await advance(1);
    expect(await letThrough([limit], 20)).toBe(9);
    given.giveBack();
    expect(await letThrough([limit], 20)).toBe(1);
    expect(await letThrough([other], 20)).toBe(0);
  });

  test('for its hour, which begins and ends with that of all where that is not lost', async () => {
    const counters = lossyCounters();
    const [first, second] = [newLimit(TEN, counters), newLimit(TEN, counters)];
    expect(await letThrough([first], 1)).toBe(1);
    await advance(HOUR_MS - 1_000);
    expect(await letThrough([second], 20)).toBe(9);
    await advance(1_001);
    expect(await letThrough([second], 20)).toBe(10);
  });
});

test('where the clock of the counters is behind, their hour goes on, and they are not asked again and again', async () => {
  // Another instance has counted one fee.
  let [asked, count] = [0, Number(FEE)];
  const behind: FeeLimitParts['counters'] = {
    increment: async (_key, _window, by = 1) => {
      asked += 1;
      count += by;
      return { count, resetsAt: 1_000 };
    },
  };
  const limit = newLimit(25_000n, behind);
  expect(await letThrough([limit], 10)).toBe(1);
  expect(asked).toBe(1);
  await advance(1_001);
  expect(await letThrough([limit], 10)).toBe(0);
  expect(asked).toBe(2);
});

describe('a share', () => {
  const PAYER = { payer: 'payer' };

  /** How many fees of some parties are let through, one after the other, until one is not. */
  async function until(limit: FeeLimit, parties: FeeParties, most = 20): Promise<number> {
    for (let taken = 0; taken < most; taken += 1) {
      if (!(await limit.take(FEE, parties)).ok) return taken;
    }
    return most;
  }

  test('is a fifth for one payer, who is refused, and the next payer has as much', async () => {
    const limit = newLimit(1_000_100n);
    expect(await until(limit, PAYER, 30)).toBe(20);
    const payers = newLimit(600_000n);
    expect(await until(payers, PAYER)).toBe(11);
    expect(await payers.take(FEE, PAYER)).toEqual({
      ok: false,
      refusal: { reason: 'payer_fee_limit_reached', message: expect.stringContaining('again in 60 minutes') },
    });
    expect(await payers.reach(FEE, PAYER)).toMatchObject({ ok: false });
    expect(payers.fault()).toBeUndefined();
    expect(await until(payers, { payer: 'another' })).toBe(11);
    expect(told).toEqual([]);
    await advance(HOUR_MS + 1);
    expect(await until(payers, PAYER)).toBe(11);
  });

  test('that is less than a fee lets one pass in an hour', async () => {
    const limit = newLimit(30_000n);
    expect(await until(limit, PAYER)).toBe(1);
    expect(await until(limit, { payer: 'another' })).toBe(1);
  });

  test.each<[string, FeeParties, FeeParties, RegExp]>([
    ['a seller', { seller: 'seller' }, { seller: 'another' }, /payments of this seller .* share/],
    ['public settling', { isPublic: true }, { isPublic: false }, /of servers elsewhere, and of requests .* share/],
  ])('of %s stops those payments with an error, and no others', async (_, parties, others, detail) => {
    const limit = newLimit(100_000n);
    await limit.take(FEE, { ...parties, payer: 'first' });
    const refused = limit.take(FEE, { ...parties, payer: 'second' });
    await expect(refused).rejects.toMatchObject({
      code: 'fee_limit_reached',
      message: expect.stringMatching(detail),
      context: { retryAfterSeconds: 3_600 },
    });
    expect(limit.fault()).toBeUndefined();
    expect(await limit.take(FEE, { ...others, payer: 'second' })).toMatchObject({ ok: true });
  });

  describe('of all sellers and the public together', () => {
    const OWNERS: FeeLimitParts['owners'] = {
      quotasOf: async (seller) => ({ feePercent: seller === 'favoured' ? 61 : seller === 'large' ? 60 : 20 }),
    };
    /** Two fees for a fifth; six for three fifths, of ten. */
    const newShared = () =>
      createFeeLimit({
        network: 'solana-devnet',
        maxFeeLamportsPerHour: 101_000n,
        counters: undefined,
        owners: OWNERS,
        now,
        onLimitReached: () => undefined,
      });
    const tries = async (limit: FeeLimit, parties: FeeParties, times = 9): Promise<number> => {
      let taken = 0;
      for (let n = 0; n < times; n += 1) {
        const code = await codeOf(limit.take(FEE, parties)).catch(() => undefined);
        if (code !== 'fee_limit_reached') taken += 1;
      }
      return taken;
    };

    test('is three fifths, and the rest of the hour is for routes without a seller', async () => {
      const limit = newShared();
      const counts = [];
      for (const seller of ['a', 'b']) counts.push(await tries(limit, { seller, payer: seller }, 2));
      counts.push(await tries(limit, { isPublic: true }, 2));
      expect(counts).toEqual([2, 2, 2]);
      for (const parties of [{ seller: 'c' }, { seller: 'd', isPublic: true }, { paysAnybody: true }]) {
        await expect(limit.take(FEE, parties)).rejects.toMatchObject({ code: 'fee_limit_reached' });
      }
      await expect(limit.take(FEE, { seller: 'c' })).rejects.toMatchObject({
        message: expect.stringMatching(
          /^The payments of all sellers, of servers elsewhere and of routes where a request says who is paid have used/,
        ),
        context: { retryAfterSeconds: 3_600 },
      });
      expect(limit.fault()).toBeUndefined();
      expect(await limit.take(FEE, PAYER)).toMatchObject({ ok: true });
      expect(await tries(limit, {})).toBe(3);
      await advance(HOUR_MS + 1);
      expect(await limit.take(FEE, { seller: 'c' })).toMatchObject({ ok: true });
    });

    test('has room again for what did not leave', async () => {
      const limit = newShared();
      const fee = await counted(limit, { seller: 'a' });
      expect(await tries(limit, { seller: 'large' }, 9)).toBe(5);
      fee.giveBack();
      expect(await limit.take(FEE, { seller: 'c' })).toMatchObject({ ok: true });
    });

    test('does not bind a seller to whom an operator gives more, and is not used by him', async () => {
      const limit = newShared();
      expect(await tries(limit, { seller: 'favoured' }, 4)).toBe(4);
      expect(await tries(limit, { seller: 'large' })).toBe(6);
      const other = newShared();
      expect(await tries(other, { seller: 'large' })).toBe(6);
      expect(await tries(other, { seller: 'favoured' }, 4)).toBe(4);
    });
  });

  test('counts nothing where another share, or the whole, is used up', async () => {
    const limit = newLimit(100_000n);
    await limit.take(FEE, { seller: 'seller' });
    for (let times = 0; times < 3; times += 1) {
      expect(await codeOf(limit.take(FEE, { seller: 'seller', payer: 'payer' }))).toBe('fee_limit_reached');
    }
    expect(await limit.take(FEE, PAYER)).toMatchObject({ ok: true });
    expect(await letThrough([limit], 20)).toBe(7);
  });

  test('loses a fee twice where it paid for a failure, and has it again where it was given back', async () => {
    const limit = newLimit(200_100n);
    const failed = await counted(limit, PAYER);
    failed.countTwice();
    expect(await until(limit, PAYER)).toBe(2);
    const given = await counted(limit, { payer: 'lucky' });
    given.giveBack();
    expect(await until(limit, { payer: 'lucky' })).toBe(4);
  });
});

test('whoever is told of a fee that there is room for it finds it, and whoever is told no is refused', async () => {
  const party = fc.constantFrom<FeeParties>({}, { payer: 'one' }, { payer: 'two', seller: 'a' }, { isPublic: true });
  const steps = fc.array(
    fc.record({ party, fee: fc.bigInt(1n, 40_000n), waitMs: fc.nat(HOUR_MS / 4), giveBack: fc.boolean() }),
  );
  const answerOf = (count: Promise<{ readonly ok: boolean }>) =>
    count.then(
      ({ ok }) => ok,
      (error: unknown) => Reflect.get(Object(error), 'code'),
    );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const counters = createMemoryCounters({ now });
      const [limit, other] = [newLimit(250_000n, counters), newLimit(250_000n, counters)];
      for (const { party, fee, waitMs, giveBack } of all) {
        await advance(waitMs);
        await other.take(fee, party).catch(() => undefined);
        const told = await answerOf(limit.reach(fee, party));
        const taking = limit.take(fee, party);
        expect(await answerOf(taking)).toBe(told);
        const taken = await taking.catch(() => undefined);
        if (giveBack && taken?.ok) taken.fee.giveBack();
      }
    }),
    { numRuns: 100 },
  );
});

describe('a fee that is too large for what is left of the hour', () => {
  const LARGE = 400_000n;
  /** Thirty fees, and less than one. */
  const THIRTY = 305_000n;

  /** Counters, and how often they were asked. */
  function watched() {
    const counters = createMemoryCounters({ now });
    let asked = 0;
    const increment: Counters['increment'] = (...call) => {
      asked += 1;
      return counters.increment(...call);
    };
    return { increment, asked: () => asked };
  }

  test('is refused until its end, and smaller ones are paid, by whichever instance', async () => {
    const counters = watched();
    const [limit, other] = [newLimit(THIRTY, counters), newLimit(THIRTY, counters)];
    await counted(limit);
    await expect(limit.reach(LARGE)).rejects.toMatchObject({
      code: 'fee_limit_reached',
      context: { retryAfterSeconds: 3_600 },
    });
    expect([limit.fault(), told]).toEqual([undefined, []]);
    expect(await letThrough([limit], 9)).toBe(9);
    expect(await codeOf(other.take(LARGE))).toBe('fee_limit_reached');
    expect(await letThrough([other], 10)).toBe(10);
    expect(await codeOf(limit.take(300_000n))).toBe('fee_limit_reached');
    expect((await letThrough([limit], 30)) + (await letThrough([other], 30))).toBe(10);
    expect(limit.fault()).toBeInstanceOf(TollhouseError);
  });

  test('is refused without asking the counters, however often it comes', async () => {
    const counters = watched();
    const limit = newLimit(THIRTY, counters);
    await counted(limit);
    const before = counters.asked();
    for (const fee of [LARGE, 300_000n, LARGE]) expect(await codeOf(limit.take(fee))).toBe('fee_limit_reached');
    expect(counters.asked()).toBe(before);
  });

  test('leaves a payer what is left of his share', async () => {
    const limit = newLimit(505_000n);
    const PAYER = { payer: 'payer' };
    await counted(limit, PAYER);
    expect(await limit.take(95_000n, PAYER)).toEqual({
      ok: false,
      refusal: { reason: 'payer_fee_limit_reached', message: expect.stringContaining('again in 60 minutes') },
    });
    expect(await limit.take(FEE, PAYER)).toMatchObject({ ok: true });
  });

  test('changes nothing of what others are paid, and all together never pass the bound', async () => {
    const small = fc.record({ by: fc.nat(1), fee: fc.bigInt(10_000n, 40_000n) });
    await fc.assert(
      fc.asyncProperty(fc.array(small, { maxLength: 60 }), fc.nat(1), async (fees, by) => {
        const spentWith = async (isDisturbed: boolean) => {
          const counters = createMemoryCounters({ now });
          const limits = [newLimit(500_000n, counters), newLimit(500_000n, counters)];
          const paid: bigint[] = [];
          for (const { by: at, fee } of fees) {
            if (isDisturbed) expect(await codeOf(limits[by]!.take(600_000n))).toBe('fee_limit_reached');
            const count = await limits[at]!.take(fee).catch(() => undefined);
            if (count?.ok) paid.push(fee);
          }
          return paid;
        };
        const paid = await spentWith(true);
        expect(paid).toEqual(await spentWith(false));
        expect(paid.reduce((sum, fee) => sum + fee, 0n)).toBeLessThanOrEqual(500_000n);
      }),
      { numRuns: 100 },
    );
  });
});
