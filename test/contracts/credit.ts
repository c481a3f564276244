import fc from 'fast-check';
import type { CallStore } from '../../src/storage/calls/call-store.js';
import { CREDIT_HOLD_MS, type CreditStore } from '../../src/storage/calls/credit-store.js';
import { HOUR_MS } from '../../src/storage/calls/periods.js';
import type { BookUnderTest } from './call-book-stand.js';
import { ALICE, LATE_MARCH, newCall, newReservation, USDC, USDT } from './call-samples.js';

const PRICE = { mint: USDC, amount: 10_000n };
const WEATHER = { keyId: ALICE.keyId, projectId: 'prj_weather' };
const WANTED = { ...WEATHER, charge: PRICE };

/** What every book of calls must do to keep what was paid for nothing. */
export function creditContract(name: string, open: () => Promise<BookUnderTest>): void {
  describe(`credit in ${name}`, () => {
    let fixture: BookUnderTest;
    let book: CallStore;
    let credit: CreditStore;
    beforeEach(async () => {
      fixture = await open();
      ({ book, credit } = fixture);
    });
    afterEach(() => fixture.close());

    const { charge: _charge, ...uncharged } = newCall();
    const give = (charge = PRICE, more = {}) =>
      book.finish({ ...uncharged, credit: { kind: 'given', charge }, ...more }, {});
    const use = (creditHoldId: string) =>
      book.finish(newCall({ credit: { kind: 'used', charge: PRICE } }), { creditHoldId });
    const sums = async () => (await credit.list({ owner: ALICE.owner })).map(({ mint, amount }) => [mint, amount]);

    test('is held once, whoever asks for it at the same time, and is used up by the call that it pays', async () => {
      expect(await credit.hold(WANTED)).toBeUndefined();
      await give();
      const both = await Promise.all([credit.hold(WANTED), fixture.otherCredit.hold(WANTED)]);
      const [held, ...others] = both.filter((it) => it !== undefined);
      expect([held?.left, others]).toEqual([0n, []]);
      expect(await sums()).toEqual([[USDC, 10_000n]]);
      expect(await use(held!.id)).toBe(true);
      expect([await sums(), await credit.hold(WANTED)]).toEqual([[], undefined]);
    });

    test('is given back when the call cost nothing, once', async () => {
      await give();
      const held = await credit.hold(WANTED);
      await Promise.all([credit.giveBack(held!.id), fixture.otherCredit.giveBack(held!.id)]);
      await credit.giveBack(held!.id);
      expect(await sums()).toEqual([[USDC, 10_000n]]);
    });

    test('pays no call that costs more than there is, and leaves the rest of what is more', async () => {
      await give();
      const cost = (amount: bigint) => ({ ...WEATHER, charge: { mint: USDC, amount } });
      expect(await credit.hold(cost(10_001n))).toBeUndefined();
      expect(await credit.hold(cost(9_999n))).toMatchObject({ left: 1n });
      expect(await credit.hold(cost(2n))).toBeUndefined();
    });

    test('is of one key, one project and one token', async () => {
      await give();
      for (const other of [{ keyId: 'key_two' }, { projectId: 'prj_news' }, { charge: { mint: USDT, amount: 1n } }]) {
        expect(await credit.hold({ ...WANTED, ...other })).toBeUndefined();
      }
      expect(await credit.list({ owner: 'wallet of bob' })).toEqual([]);
      expect(await credit.list({ owner: ALICE.owner, keyId: 'key_two' })).toEqual([]);
      expect(await credit.owedBy('prj_news')).toEqual(new Map());
      expect(await credit.owedBy('prj_weather')).toEqual(new Map([[USDC, 10_000n]]));
    });

    test('that a call holds which nobody hears of any more is given back, and the call then earns nothing', async () => {
      await give();
      const held = await credit.hold(WANTED);
      await fixture.advance(HOUR_MS);
      expect(await fixture.otherCredit.prune(100)).toBe(1);
      expect(await credit.prune(100)).toBe(0);
      expect(await use(held!.id)).toBe(false);
      expect(await sums()).toEqual([[USDC, 10_000n]]);
      const again = await credit.hold(WANTED);
      await fixture.advance(HOUR_MS);
      expect(await fixture.otherCredit.hold(WANTED)).toMatchObject({ left: 0n });
      expect(again?.id).toBeDefined();
    });

    test('that a call holds which is heard of again and again is nobody else’s, however long the call takes', async () => {
      await give();
      const held = await credit.hold(WANTED);
      for (let n = 0; n < 3; n += 1) {
        await fixture.advance(CREDIT_HOLD_MS - 1);
        expect(await credit.extend(held!.id)).toBe(true);
        expect([await credit.prune(100), await fixture.otherCredit.hold(WANTED)]).toEqual([0, undefined]);
      }
      expect(await use(held!.id)).toBe(true);
      expect(await credit.extend(held!.id)).toBe(false);
      expect(await sums()).toEqual([]);
    });

    test('counts as spent when it is given, and not again when it is used', async () => {
      const budgets = [{ window: 'total', limit: 20_000n }] as const;
      const reservation = newReservation({ budgets });
      await book.reserve(reservation);
      await give(PRICE, {});
      await book.giveBack(reservation.id);
      await use((await credit.hold(WANTED))!.id);
      const used = await book.budgetUse(ALICE.keyId, LATE_MARCH);
      expect(used.find(({ window }) => window === 'total')?.used).toBe(10_000n);
      expect(await book.reserve(newReservation({ budgets }))).toMatchObject({ ok: true });
      expect(await book.reserve(newReservation({ budgets }))).toMatchObject({ ok: false, used: 20_000n });
    });

    test('is told apart from what was earned, in sums and in the list of calls', async () => {
      await give();
      await give();
      await use((await credit.hold(WANTED))!.id);
      const hour = LATE_MARCH - (LATE_MARCH % HOUR_MS);
      expect(await book.totals('prj_weather', { from: hour, to: hour + HOUR_MS })).toMatchObject({
        calls: 3,
        paid: 1,
        revenue: new Map([[USDC, 10_000n]]),
        creditGiven: new Map([[USDC, 20_000n]]),
        creditUsed: new Map([[USDC, 10_000n]]),
      });
      const listed = await book.calls({ projectId: 'prj_weather', limit: 3 });
      expect(listed.map((it) => [it.credit?.kind, it.credit?.charge.amount, it.charge?.amount])).toEqual([
        ['used', 10_000n, 10_000n],
        ['given', 10_000n, undefined],
        ['given', 10_000n, undefined],
      ]);
    });

    test('is never more nor less than what was given and not used, whatever happens in which order', async () => {
      const event = fc.constantFrom('give', 'hold', 'use', 'giveBack', 'lose');
      await fc.assert(
        fc.asyncProperty(fc.array(event, { maxLength: 25 }), async (events) => {
          const keyId = `key_${Math.random()}`;
          const mine = { ...WANTED, keyId };
          const caller = { keyId, owner: ALICE.owner };
          let expected = 0n;
          const held: string[] = [];
          for (const it of events) {
            if (it === 'give') {
              await give(PRICE, { caller });
              expected += 10_000n;
            }
            if (it === 'hold') {
              const hold = await credit.hold(mine);
              expect(hold !== undefined).toBe(expected - 10_000n * BigInt(held.length) > 0n);
              if (hold !== undefined) held.push(hold.id);
            }
            const [first] = held;
            if (first === undefined) continue;
            if (it === 'use' && (await use(first))) expected -= 10_000n;
            if (it === 'giveBack') await fixture.otherCredit.giveBack(first);
            if (it === 'lose') {
              await fixture.advance(HOUR_MS);
              await credit.prune(100);
              held.length = 0;
            } else if (it === 'use' || it === 'giveBack') held.shift();
          }
          const [sum] = await credit.list({ owner: ALICE.owner, keyId });
          expect(sum?.amount ?? 0n).toBe(expected);
        }),
        { numRuns: 20 },
      );
    });
  });
}
