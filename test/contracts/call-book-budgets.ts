import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { CallStore } from '../../src/storage/calls/call-store.js';
import { DAY_MS, HOUR_MS } from '../../src/storage/calls/periods.js';
import { newEvent } from '../../src/storage/events/events.js';
import { SPENDING_WINDOWS } from '../../src/storage/keys/service-keys.js';
import { createSqlLedger } from '../../src/storage/ledger/sql-ledger.js';
import { type BookUnderTest, step } from './call-book-stand.js';
import { ALICE, LATE_MARCH, newCall, newReservation, USDC, USDT } from './call-samples.js';
import { newRequest } from './ledger-requests.js';
import { newClaim } from './ledger-samples.js';

/** What every book of calls must do to keep budgets. */
export function budgetsContract(name: string, open: () => Promise<BookUnderTest>): void {
  describe(`budgets in ${name}`, () => {
    let fixture: BookUnderTest;
    let book: CallStore;
    beforeEach(async () => {
      fixture = await open();
      ({ book } = fixture);
    });
    afterEach(() => fixture.close());

    const event = () => newEvent({ type: 'spending.limit_reached', owner: ALICE.owner, data: {} }, LATE_MARCH);
    const usedOf = async (keyId = 'key_one', at = LATE_MARCH) =>
      (await book.budgetUse(keyId, at)).map(({ mint, window, used }) => [mint, window, used]);

    test('hold back what calls under way will cost, and give back what they did not', async () => {
      const three = [newReservation(), newReservation(), newReservation()];
      for (const reservation of three) expect(await book.reserve(reservation)).toMatchObject({ ok: true });
      expect(await fixture.other.reserve(newReservation())).toEqual({
        ok: false,
        limitReached: { window: 'day', limit: 30_000n },
        used: 30_000n,
      });

      await book.giveBack(three[0]!.id);
      expect(await fixture.other.reserve(newReservation())).toMatchObject({ ok: true });
    });

    test('a limit can be used up exactly, and not by one unit more', async () => {
      const charge = (amount: bigint) => ({ charge: { mint: USDC, amount } });
      expect(await book.reserve(newReservation(charge(30_001n)))).toMatchObject({ ok: false, used: 0n });
      expect(await book.reserve(newReservation(charge(30_000n)))).toMatchObject({ ok: true });
      expect(await book.reserve(newReservation(charge(1n)))).toMatchObject({ ok: false });
      expect(await book.reserve(newReservation(charge(0n)))).toMatchObject({ ok: true });
    });

    test('what a process that vanished held back counts no more when its lease is over', async () => {
      const charge = { mint: USDC, amount: 30_000n };
      await book.reserve(newReservation({ charge }));
      const later = (at: number) => newReservation({ charge, at: LATE_MARCH + at });
      expect(await book.reserve(later(59_999))).toMatchObject({ ok: false });
      expect(await book.reserve(later(60_000))).toMatchObject({ ok: true });
    });

    describe.each(['payment', 'payment request'])('what is held back for a %s', (named) => {
      const charge = { mint: USDC, amount: 30_000n };

      /** Brings a payment so far, and holds back what it costs under its own name, or that of its request. */
      async function held(until: 'claimed' | 'broadcast' | 'confirmed' | 'expired') {
        const ledger = createSqlLedger(fixture.database, fixture.now);
        const [claim, request] = [newClaim(), newRequest()];
        const id = named === 'payment' ? claim.id : request.id;
        await ledger.savePaymentRequest(request);
        await ledger.claim(claim);
        await ledger.attachAttempt(request.id, claim.id);
        expect(await book.reserve(newReservation({ id, charge }))).toEqual({ ok: true, isNew: true });
        if (until !== 'claimed') await ledger.recordBroadcast(claim.id, claim.lease, { signature: '5'.repeat(88) });
        const landed = { state: 'confirmed', slot: 7, signature: '5'.repeat(88) } as const;
        const lost = { state: 'expired', reason: 'invalid_exact_svm_transaction_expired' } as const;
        if (until === 'confirmed') await ledger.recordOutcome(claim.id, claim.lease, landed);
        if (until === 'expired') await ledger.recordOutcome(claim.id, claim.lease, lost);
        await fixture.advance(120_000);
        await book.prune(0, 0, 100);
        return { id, next: () => book.reserve(newReservation({ at: LATE_MARCH + 120_000 })) };
      }

      test.each(['broadcast', 'confirmed'] as const)('that is %s counts until its call is written', async (state) => {
        const { id, next } = await held(state);
        expect(await next()).toMatchObject({ ok: false, used: 30_000n });
        expect(await book.reserve(newReservation({ id, charge }))).toEqual({ ok: true, isNew: false });
        await book.finish(newCall({ charge }), { reservationId: id });
        expect(await usedOf()).toContainEqual([USDC, 'day', 30_000n]);
        expect(await next()).toMatchObject({ ok: false, used: 30_000n });
      });

      test.each(['claimed', 'expired'] as const)('that is %s counts no more when its lease is over', async (state) => {
        const { next } = await held(state);
        expect(await next()).toMatchObject({ ok: true });
        expect(await fixture.database.query(...step('select id from tollhouse_reservation'))).toHaveLength(1);
      });
    });

    test('what was spent is spent, also after the lease was over', async () => {
      const reservation = newReservation({ charge: { mint: USDC, amount: 30_000n } });
      await book.reserve(reservation);
      await fixture.advance(120_000);
      await book.prune(0, 0, 100);
      await book.finish(newCall({ charge: reservation.charge }), { reservationId: reservation.id });
      expect(await book.reserve(newReservation())).toMatchObject({ ok: false, used: 30_000n });
    });

    test('end with the day and with the month of UTC; a day of the next month is in no window of this one', async () => {
      const budgets = [
        { window: 'day', limit: 10_000n },
        { window: 'month', limit: 15_000n },
      ] as const;
      const at = (time: number) => newReservation({ budgets, at: time });
      const spend = (time: number) => book.finish(newCall({ at: time }));
      await spend(LATE_MARCH - DAY_MS);
      expect(await book.reserve(at(LATE_MARCH))).toEqual({ ok: false, limitReached: budgets[1], used: 10_000n });
      await spend(LATE_MARCH);
      expect(await book.reserve(at(LATE_MARCH))).toMatchObject({ ok: false });
      expect(await book.reserve(at(LATE_MARCH + HOUR_MS))).toMatchObject({ ok: true });
      expect(await usedOf('key_one', LATE_MARCH + HOUR_MS)).toEqual([[USDC, 'total', 20_000n]]);
    });

    test('of another key or another token are others', async () => {
      const full = { charge: { mint: USDC, amount: 30_000n } };
      await book.reserve(newReservation(full));
      expect(await book.reserve(newReservation({ caller: { ...ALICE, keyId: 'key_two' } }))).toMatchObject({
        ok: true,
      });
      expect(await book.reserve(newReservation({ charge: { mint: USDT, amount: 30_000n } }))).toMatchObject({
        ok: true,
      });
    });

    test('are the same for native and wrapped SOL, however it is held back and spent', async () => {
      const [native, wrapped] = ['11111111111111111111111111111111', 'So11111111111111111111111111111111111111112'];
      const charge = (mint: string) => ({ charge: { mint, amount: 10_000n } });
      const held = newReservation(charge(wrapped));
      await book.reserve(held);
      await book.finish(newCall(charge(native)), { reservationId: held.id });
      await book.finish(newCall(charge(wrapped)));
      expect(await usedOf()).toContainEqual([wrapped, 'day', 20_000n]);
      expect(await book.reserve(newReservation(charge(native)))).toMatchObject({ ok: true });
      for (const mint of [native, wrapped]) {
        expect(await fixture.other.reserve(newReservation(charge(mint)))).toMatchObject({ ok: false, used: 30_000n });
      }
      const notice = {
        caller: ALICE,
        at: LATE_MARCH,
        window: 'day',
        limit: 30_000n,
        percent: 60,
        atLeast: 1n,
      } as const;
      expect(await book.notice({ ...notice, mint: native }, event())).toBe(true);
      expect(await book.notice({ ...notice, mint: wrapped }, event())).toBe(false);

      const day = { from: LATE_MARCH - DAY_MS, to: LATE_MARCH + DAY_MS };
      const sum = { mint: wrapped, amount: 20_000n, calls: 2 };
      expect(await book.spending({ owner: ALICE.owner, ...day })).toMatchObject([sum]);
      expect((await book.totals('prj_weather', day)).revenue).toEqual(new Map([[wrapped, 20_000n]]));
      const paidIn = (await book.calls({ projectId: 'prj_weather', limit: 10 })).map((it) => it.charge?.mint);
      expect(paidIn).toEqual([wrapped, native]);
    });

    test('are never exceeded, however many calls ask at once, end, fail or are given back', async () => {
      const call = fc.record({
        amount: fc.bigInt(1n, 60n),
        end: fc.constantFrom('finish', 'giveBack', 'vanish'),
        second: fc.boolean(),
      });
      const budget = fc.record({ window: fc.constantFrom(...SPENDING_WINDOWS), limit: fc.bigInt(0n, 300n) });
      const plan = fc.record({
        budgets: fc.uniqueArray(budget, { selector: ({ window }) => window, minLength: 1 }),
        calls: fc.array(call, { minLength: 1, maxLength: 16 }),
      });
      await fc.assert(
        fc.asyncProperty(plan, async ({ budgets, calls }) => {
          const caller = { keyId: `key_${randomUUID()}`, owner: 'wallet of alice' };
          const [least = 0n] = budgets.map(({ limit }) => limit).sort((a, b) => Number(a - b));
          const outcomes = await Promise.all(
            calls.map(async ({ amount, end, second }) => {
              const at = second ? fixture.other : book;
              const charge = { mint: USDC, amount };
              const reservation = newReservation({ caller, charge, budgets });
              const result = await at.reserve(reservation);
              if (!result.ok) return { amount, spent: 0n, held: 0n, refused: true };
              if (end === 'giveBack') await at.giveBack(reservation.id);
              if (end === 'finish') await at.finish(newCall({ caller, charge }), { reservationId: reservation.id });
              const spent = end === 'finish' ? amount : 0n;
              return { amount, spent, held: end === 'vanish' ? amount : spent, refused: false };
            }),
          );
          const held = outcomes.reduce((sum, it) => sum + it.held, 0n);
          const spent = outcomes.reduce((sum, it) => sum + it.spent, 0n);
          const total = (await book.budgetUse(caller.keyId, LATE_MARCH)).find(({ window }) => window === 'total');

          expect(held <= least).toBe(true);
          expect(total?.used ?? 0n).toBe(spent);
          if (calls.reduce((sum, { amount }) => sum + amount, 0n) <= least) {
            expect(outcomes.some(({ refused }) => refused)).toBe(false);
          }
          const rest = newReservation({ caller, budgets, charge: { mint: USDC, amount: least - held } });
          expect(await book.reserve(rest)).toMatchObject({ ok: true });
          const more = newReservation({ caller, budgets, charge: { mint: USDC, amount: 1n } });
          expect(await book.reserve(more)).toMatchObject({ ok: false });
        }),
        { numRuns: 25 },
      );
    });

    test('are told of once in a window, when it is true', async () => {
      const limit = { window: 'day', limit: 10_000n } as const;
      const notice = { ...limit, caller: ALICE, mint: USDC, at: LATE_MARCH, percent: 80, atLeast: 8_000n };
      const told = newEvent({ type: 'spending.threshold_reached', owner: ALICE.owner, data: {} }, LATE_MARCH);
      await book.finish(newCall({ charge: { mint: USDC, amount: 7_999n } }));
      expect(await book.notice(notice, told)).toBe(false);

      await book.finish(newCall({ charge: { mint: USDC, amount: 1n } }));
      const events = [told, ...Array.from({ length: 9 }, () => event())];
      const results = await Promise.all(
        events.map((it, at) => (at % 2 === 0 ? book : fixture.other).notice(notice, it)),
      );
      expect(results.filter(Boolean)).toEqual([true]);
      expect(await fixture.eventIds()).toHaveLength(1);

      expect(await book.notice({ ...notice, percent: 100, atLeast: 0n }, event())).toBe(true);
      expect(await book.notice(notice, event())).toBe(false);
      expect(await book.notice({ ...notice, limit: 9_000n }, event())).toBe(true);
      expect(await book.notice({ ...notice, window: 'month', limit: 10_000n }, event())).toBe(true);
    });

    test('are told of when the first call of a window is refused', async () => {
      const notice = { window: 'day', limit: 1n, caller: ALICE, mint: USDC, at: LATE_MARCH, percent: 100 } as const;
      expect(await book.notice({ ...notice, atLeast: 0n }, event())).toBe(true);
      expect(await usedOf()).toEqual([[USDC, 'day', 0n]]);
      await book.finish(newCall());
      expect(await usedOf()).toContainEqual([USDC, 'day', 10_000n]);
    });
  });
}
