import fc from 'fast-check';
import { createAdaptiveLimit } from '../../../../src/facilitator/payments/adaptive-limit.js';
import { createPaymentsInFlight } from '../../../../src/facilitator/payments/payments-in-flight.js';

const MAX = 500;

/** A limit on a clock of its own, and checks of payments that take so long among so many. */
function openLimit(max = MAX) {
  let [clock, all] = [0, 0];
  const limit = createAdaptiveLimit(
    max,
    () => all,
    () => clock,
  );
  function begin(): () => void {
    all += 1;
    const end = limit.begin();
    return () => {
      end();
      all -= 1;
    };
  }
  return {
    current: limit.current,
    begin,
    pass(ms: number) {
      clock += ms;
    },
    /** As many at once, all of them done after as long. */
    checks(inFlight: number, tookMs: number) {
      const ends = Array.from({ length: inFlight }, begin);
      clock += tookMs;
      for (const end of ends) end();
    },
  };
}

test('checks that are late among many take away room in proportion, once for all that were under way', () => {
  const limit = openLimit();
  limit.checks(MAX, 4_000);
  // Ten of them tell, and nine are gone by then.
  expect(limit.current()).toBe(Math.floor((MAX - 9) / 4));
});

test('checks that began before the room shrank do not shrink it again', () => {
  const limit = openLimit();
  const old = Array.from({ length: MAX }, limit.begin);
  limit.pass(2_000);
  for (const end of old.slice(0, 10)) end();
  const shrunk = limit.current();
  limit.pass(8_000);
  for (const end of old.slice(10)) end();
  expect([shrunk, limit.current()]).toEqual([245, 245]);
});

test('the room never falls below what hurts no node, however late checks are', () => {
  const limit = openLimit();
  for (let lap = 0; lap < 10; lap += 1) limit.checks(limit.current(), 60_000);
  expect(limit.current()).toBe(50);
});

test('a check that is late among few takes no room away', () => {
  const limit = openLimit();
  for (let lap = 0; lap < 100; lap += 1) limit.checks(3, 30_000);
  expect(limit.current()).toBe(MAX);
});

test('a few checks that are late among many change nothing', () => {
  const limit = openLimit();
  const slow = Array.from({ length: 3 }, limit.begin);
  for (let lap = 0; lap < 30; lap += 1) limit.checks(100, 100);
  for (const end of slow) end();
  limit.checks(100, 100);
  expect(limit.current()).toBe(MAX);
});

test('checks in time give the room back, to what it was and no further', () => {
  const limit = openLimit();
  limit.checks(MAX, 10_000);
  expect(limit.current()).toBe(50);
  for (let lap = 0; lap < 20; lap += 1) limit.checks(40, 100);
  expect(limit.current()).toBe(MAX);
});

test('on a node that is slow for few as well, as slow is in time', () => {
  const limit = openLimit();
  for (let lap = 0; lap < 50; lap += 1) limit.checks(1, 1_000);
  limit.checks(MAX, 2_800);
  expect(limit.current()).toBe(MAX);
  limit.checks(MAX, 6_000);
  expect(limit.current()).toBeLessThan(MAX);
});

test('a bound that is small is not changed', () => {
  const limit = openLimit(10);
  for (let lap = 0; lap < 10; lap += 1) limit.checks(10, 60_000);
  expect(limit.current()).toBe(10);
});

test('without a bound there is room for all, however late they are', () => {
  const limit = openLimit(Number.POSITIVE_INFINITY);
  for (let lap = 0; lap < 3; lap += 1) limit.checks(1_000, 60_000);
  expect(limit.current()).toBe(Number.POSITIVE_INFINITY);
});

test('the room stays between its two bounds through any checks', () => {
  const lap = fc.record({ inFlight: fc.integer({ min: 1, max: 600 }), tookMs: fc.integer({ min: 0, max: 100_000 }) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), fc.array(lap, { maxLength: 30 }), (max, laps) => {
      const limit = openLimit(max);
      for (const { inFlight, tookMs } of laps) {
        limit.checks(inFlight, tookMs);
        expect(limit.current()).toBeLessThanOrEqual(max);
        expect(limit.current()).toBeGreaterThanOrEqual(Math.min(50, max));
        expect(Number.isInteger(limit.current())).toBe(true);
      }
    }),
  );
});

test('a wallet has a fifth of the room that there is now', async () => {
  jest.useFakeTimers({ now: 0 });
  try {
    const inFlight = createPaymentsInFlight({ maxPaymentsInFlight: MAX });
    const places = await Promise.all(Array.from({ length: MAX }, (_, at) => inFlight.enter({ payer: `wallet ${at}` })));
    jest.advanceTimersByTime(5_000);
    for (const it of places) {
      it.checked();
      it.leave();
    }
    expect(inFlight.load()).toMatchObject({ paymentsInFlight: 0, roomForPayments: 98 });
    const own = await Promise.allSettled(Array.from({ length: 30 }, () => inFlight.enter({ payer: 'flood' })));
    expect(own.filter(({ status }) => status === 'fulfilled')).toHaveLength(19);
  } finally {
    jest.useRealTimers();
  }
});
