import type { CallRecord, CallStore } from '../../src/storage/calls/call-store.js';
import { latencyBucket } from '../../src/storage/calls/latency-buckets.js';
import { DAY_MS, dayOf, HOUR_MS, hourOf, monthOf } from '../../src/storage/calls/periods.js';
import { newEvent } from '../../src/storage/events/events.js';
import { createMemoryIdempotencyStore } from '../../src/storage/idempotency/memory-idempotency-store.js';
import { createSqlIdempotencyStore } from '../../src/storage/idempotency/sql-idempotency-store.js';
import type { ClaimRequest } from '../../src/storage/ledger/ledger.js';
import { createSqlLedger } from '../../src/storage/ledger/sql-ledger.js';
import type { BookUnderTest } from './call-book-stand.js';
import {
  ALICE,
  failedCall,
  LATE_MARCH,
  newCall,
  newRefusal,
  newReservation,
  USDC,
  USDT,
  wholeCall,
} from './call-samples.js';
import { newClaim } from './ledger-samples.js';

const MAX = 9_223_372_036_854_775_807n;

/** What every book of calls must do. */
export function callBookContract(name: string, open: () => Promise<BookUnderTest>): void {
  describe(`${name} keeps the contract of CallStore`, () => {
    let fixture: BookUnderTest;
    let book: CallStore;
    beforeEach(async () => {
      fixture = await open();
      ({ book } = fixture);
    });
    afterEach(() => fixture.close());

    const hour = { from: hourOf(LATE_MARCH), to: hourOf(LATE_MARCH) + HOUR_MS };
    const hours = async (projectId = 'prj_weather', range = hour) => book.series(projectId, range, HOUR_MS);
    const usedOf = async (keyId = 'key_one', at = LATE_MARCH) =>
      (await book.budgetUse(keyId, at)).map(({ mint, window, used }) => [mint, window, used]);
    const event = (projectId = 'prj_weather') =>
      newEvent({ type: 'call.succeeded', owner: 'seller', projectId, data: {} }, LATE_MARCH);

    describe('finish', () => {
      test('keeps everything about a call exactly', async () => {
        const credited = wholeCall();
        // Credit is written by other statements.
        const { credit: _credit, ...paid } = wholeCall();
        const failed = failedCall();
        const bare: CallRecord = { ...newCall(), projectId: 'prj_other' };
        for (const call of [credited, paid, failed, bare]) await book.finish(call);
        const found = await book.calls({ projectId: 'prj_weather', limit: 10 });
        const shown = ({ caller, rule: _rule, ...call }: CallRecord) => ({
          ...call,
          seq: expect.any(BigInt),
          keyId: caller?.keyId,
          buyer: caller?.owner,
        });

        expect([...found].reverse()).toEqual([credited, paid, failed].map(shown));
        expect(found[1]!.seq < found[0]!.seq).toBe(true);
      });

      test('writes the call, its sums, its spending and its events, and ends its reservation', async () => {
        const reservation = newReservation();
        await book.reserve(reservation);
        const told = event();
        expect(await book.finish(newCall(), { reservationId: reservation.id, events: [told] })).toBe(true);

        expect(await hours()).toEqual([
          {
            ...{ at: hour.from, calls: 1, paid: 1, challenged: 0, refused: 0, upstreamErrors: 0, payers: 1 },
            ...{ passUses: 0, passesSold: 0 },
            revenue: new Map([[USDC, 10_000n]]),
            creditGiven: new Map(),
            creditUsed: new Map(),
            latency: new Map([[latencyBucket(120), 1]]),
            ...{ upstreamLatency: new Map(), gatewayLatency: new Map() },
            refusals: new Map(),
          },
        ]);
        expect(await usedOf()).toEqual([
          [USDC, 'day', 10_000n],
          [USDC, 'hour', 10_000n],
          [USDC, 'month', 10_000n],
          [USDC, 'total', 10_000n],
        ]);
        expect(await fixture.eventIds()).toEqual([told.id]);
        const rest = newReservation({ charge: { mint: USDC, amount: 20_000n } });
        expect(await book.reserve(rest)).toMatchObject({ ok: true });
      });

      test('counts calls of passes that were charged, and passes that were sold, apart from what is earned', async () => {
        const pass = { id: 'pas_one', uses: 1 } as const;
        const { charge: _charge, ...covered } = newCall({ pass });
        await book.finish(newCall({ pass }));
        await book.finish(covered);
        await book.finish({ ...covered, pass: { ...pass, uses: 0 } });
        expect(await hours()).toMatchObject([
          { calls: 3, paid: 1, passUses: 2, passesSold: 1, revenue: new Map([[USDC, 10_000n]]) },
        ]);
        expect((await book.calls({ projectId: 'prj_weather', limit: 10 })).map((it) => it.pass)).toEqual([
          { ...pass, uses: 0 },
          pass,
          pass,
        ]);
      });

      test('writes nothing when the lease of the payment was lost', async () => {
        const reservation = newReservation({ charge: { mint: USDC, amount: 30_000n } });
        await book.reserve(reservation);
        const payment = { id: 'gone', lease: 'lost' };
        const options = { payment, reservationId: reservation.id, events: [event()] };

        expect(await book.finish(newCall(), options)).toBe(false);
        expect([
          await book.calls({ projectId: 'prj_weather', limit: 10 }),
          await hours(),
          await fixture.eventIds(),
        ]).toEqual([[], [], []]);
        expect(await usedOf()).toEqual([[USDC, 'total', 0n]]);
        expect(await book.reserve(newReservation())).toMatchObject({ ok: false, used: 30_000n });
      });

      test('keeps the response of a call with it, and none of a call that is not written', async () => {
        const answers = createSqlIdempotencyStore(fixture.database, { now: fixture.now });
        expect(book.keepsFor(answers)).toBe(true);
        expect(fixture.other.keepsFor(answers)).toBe(false);
        expect(book.keepsFor(createMemoryIdempotencyStore())).toBe(false);
        const ledger = createSqlLedger(fixture.database, fixture.now);
        const claim = newClaim();
        await ledger.claim(claim);
        const landed = { state: 'confirmed', slot: 1, signature: 'sig' } as const;
        await ledger.recordOutcome(claim.id, claim.lease, landed);
        const keptAs = (id: string, text: string) => ({
          store: answers,
          id,
          answer: Buffer.from(text),
          owner: 'payer',
        });
        const lost = { id: claim.id, lease: 'another lease' };
        expect(await book.finish(newCall(), { payment: lost, kept: keptAs(`lost ${claim.id}`, 'lost') })).toBe(false);
        expect(await answers.get(`lost ${claim.id}`)).toBeUndefined();

        const bytes = Uint8Array.from({ length: 300 }, (_, at) => at % 256);
        const kept = { ...keptAs(`kept ${claim.id}`, ''), answer: bytes };
        expect(await book.finish(newCall(), { payment: { id: claim.id, lease: claim.lease }, kept })).toBe(true);
        expect([...((await answers.get(kept.id)) ?? [])]).toEqual([...bytes]);
        await book.finish(newCall(), { kept: keptAs(kept.id, '') });
        expect(await answers.get(kept.id)).toHaveLength(0);
      });

      test('writes nothing when some of it cannot be written; what comes at the same time is written', async () => {
        const told = event();
        const calls = [newCall(), newCall(), newCall()];
        const results = await Promise.allSettled(
          calls.map((call, at) => book.finish(call, { events: at === 1 ? [told, told] : [event()] })),
        );

        expect(results).toMatchObject([{ value: true }, { reason: { code: 'store_unavailable' } }, { value: true }]);
        expect((await book.calls({ projectId: 'prj_weather', limit: 10 })).map(({ id }) => id).sort()).toEqual(
          [calls[0]?.id, calls[2]?.id].sort(),
        );
        expect(await hours()).toMatchObject([{ calls: 2 }]);
      });

      test('uses the payment up, once, whoever else comes at the same time', async () => {
        const ledger = createSqlLedger(fixture.database, fixture.now);
        const [claim, other] = [newClaim(), newClaim()];
        for (const it of [claim, other]) await ledger.claimLanded(it, { slot: 7, signature: '5'.repeat(88) });
        const held = (it: ClaimRequest, lease = it.lease) => ({ payment: { id: it.id, lease } });
        const finished = await Promise.all([
          book.finish(newCall(), held(claim, 'somebody else')),
          book.finish(newCall(), held(claim)),
          book.finish(newCall(), held(claim)),
          book.finish(newCall(), held(other)),
          book.finish(newCall()),
        ]);

        expect(finished.filter((it) => it)).toHaveLength(3);
        expect([finished[0], finished[3], finished[4]]).toEqual([false, true, true]);
        expect((await ledger.find(claim.id))?.state).toBe('served');
        expect((await ledger.find(other.id))?.state).toBe('served');
        expect(await hours()).toMatchObject([{ calls: 3 }]);
      });

      test('of many at once, on two instances, loses none', async () => {
        const calls = Array.from({ length: 40 }, (_, at) =>
          newCall({ payer: `payer ${at % 7}`, projectId: at % 2 === 0 ? 'prj_weather' : 'prj_other' }),
        );
        await Promise.all(calls.map((call, at) => (at % 3 === 0 ? book : fixture.other).finish(call)));
        const [weather] = await hours();
        const [other] = await hours('prj_other');

        expect([weather, other].map((it) => [it?.calls, it?.paid, it?.payers])).toEqual([
          [20, 20, 7],
          [20, 20, 7],
        ]);
        expect(weather?.revenue).toEqual(new Map([[USDC, 200_000n]]));
        expect(await usedOf()).toContainEqual([USDC, 'month', 400_000n]);
      });

      test('a failed call counts as an error of the upstream, and costs nothing', async () => {
        await book.finish(failedCall());
        expect(await hours()).toMatchObject([{ calls: 1, paid: 0, upstreamErrors: 1, payers: 0, revenue: new Map() }]);
        expect(await usedOf()).toEqual([]);
      });

      test('sums stop at the largest number, and nothing breaks', async () => {
        const call = () => newCall({ charge: { mint: USDC, amount: 18_446_744_073_709_551_615n } });
        await book.finish(call());
        await book.finish(call());
        await book.finish({ ...call(), at: LATE_MARCH - HOUR_MS });
        const range = { from: hour.from - HOUR_MS, to: hour.to };

        expect((await hours())[0]?.revenue).toEqual(new Map([[USDC, MAX]]));
        expect((await book.totals('prj_weather', range)).revenue).toEqual(new Map([[USDC, 2n * MAX]]));
        expect(await usedOf()).toContainEqual([USDC, 'day', MAX]);
        expect(await book.reserve(newReservation())).toMatchObject({ ok: false, used: MAX });
      });
    });

    describe('refused calls', () => {
      test('are counted by reason when they are flushed, and leave no row', async () => {
        for (let at = 0; at < 1_000; at += 1) book.refuse(newRefusal());
        book.refuse(newRefusal({ reason: 'rate_limited' }));
        fixture.other.refuse(newRefusal());
        expect(await hours()).toEqual([]);
        await Promise.all([book.flush(), fixture.other.flush()]);

        const refusals = new Map([
          ['payment_already_used', 1_001],
          ['rate_limited', 1],
        ]);
        expect(await hours()).toMatchObject([{ calls: 0, refused: 1_002, refusals }]);
        expect(await book.calls({ projectId: 'prj_weather', limit: 10 })).toEqual([]);
      });

      test('are none where somebody was told the price: those are counted apart', async () => {
        for (const it of [book, book, fixture.other]) it.challenge({ projectId: 'prj_weather', at: LATE_MARCH });
        await Promise.all([book.flush(), fixture.other.flush()]);
        expect(await hours()).toMatchObject([{ calls: 0, challenged: 3, refused: 0, refusals: new Map() }]);
      });

      test('of many projects are written together, whatever else is being written', async () => {
        const projects = Array.from({ length: 60 }, (_, at) => `prj_${at}`);
        for (const projectId of projects) book.refuse(newRefusal({ projectId }));
        for (const projectId of [...projects].reverse()) fixture.other.refuse(newRefusal({ projectId }));
        const calls = projects.map((projectId) => book.finish(newCall({ projectId })));
        await Promise.all([book.flush(), fixture.other.flush(), ...calls]);
        const figures = await Promise.all(projects.map((it) => hours(it)));
        expect(figures.flat().map(({ calls: some, refused }) => [some, refused])).toEqual(Array(60).fill([1, 2]));
      });

      test('that were counted are written at the end', async () => {
        book.refuse(newRefusal());
        await book.close();
        expect(await hours()).toMatchObject([{ refused: 1 }]);
      });
    });

    describe('reading', () => {
      test('calls come newest first, page by page, each once, of one project', async () => {
        const calls = Array.from({ length: 7 }, () => newCall());
        for (const call of calls) {
          await book.finish(call);
          await book.finish(newCall({ projectId: 'prj_other' }));
        }
        const first = await book.calls({ projectId: 'prj_weather', limit: 4 });
        await book.finish(newCall());
        const second = await book.calls({ projectId: 'prj_weather', limit: 4, before: first.at(-1)! });
        expect([...first, ...second].map(({ id }) => id)).toEqual(calls.map(({ id }) => id).reverse());
      });

      test('calls are found by what the upstream answered, one status or a class of them, of a project or a buyer', async () => {
        const statuses = [200, 401, 404, 429, 500];
        for (const status of statuses) await book.finish(newCall({ status }));
        const { status: _none, ...silent } = newCall();
        await book.finish(silent);
        const { caller } = silent;
        for (const whose of [{ projectId: 'prj_weather' }, { buyer: caller?.owner }]) {
          const found = async (from: number, below: number) =>
            (await book.calls({ ...whose, limit: 10, status: { from, below } })).map(({ status }) => status);
          expect(await found(404, 405)).toEqual([404]);
          expect(await found(400, 500)).toEqual([429, 404, 401]);
          expect(await found(300, 400)).toEqual([]);
        }
      });

      test('a series has the steps of its range, its end not included, and payers are distinct in each step', async () => {
        const [from, to] = [monthOf(LATE_MARCH), monthOf(LATE_MARCH) + 31 * DAY_MS];
        const at = (time: number, payer: string) => book.finish(newCall({ at: time, payer, durationMs: 5 }));
        await at(from - 1, 'before');
        await at(from, 'a');
        await at(from + 5 * HOUR_MS, 'a');
        await at(from + 5 * HOUR_MS, 'b');
        await at(to - 1, 'c');
        await at(to, 'after');
        const days = await book.series('prj_weather', { from, to }, DAY_MS);
        const whole = await book.totals('prj_weather', { from, to });

        expect(days.map((it) => [it.at, it.calls, it.payers])).toEqual([
          [from, 3, 2],
          [to - DAY_MS, 1, 1],
        ]);
        expect(whole).toMatchObject({ at: from, calls: 4, latency: new Map([[latencyBucket(5), 4]]) });
        const payersIn = (start: number, end: number) => book.countPayers('prj_weather', { from: start, to: end });
        expect(await payersIn(from, to)).toBe(3);
        expect(await payersIn(from + HOUR_MS, to)).toBe(3);
        expect(await payersIn(from, to - HOUR_MS)).toBe(2);
        expect(await payersIn(from - HOUR_MS, to + HOUR_MS)).toBe(5);
        expect([await payersIn(from, from + HOUR_MS), await payersIn(from + HOUR_MS, from + 2 * HOUR_MS)]).toEqual([
          1, 0,
        ]);
        expect(await book.series('prj_nobody', { from, to }, DAY_MS)).toEqual([]);
      });

      test('spending is told by key, project, token and day, to its owner only', async () => {
        const bob = { keyId: 'key_bob', owner: 'wallet of bob' };
        const two = { ...ALICE, keyId: 'key_two' };
        await book.finish(newCall());
        await book.finish(newCall({ at: LATE_MARCH - DAY_MS }));
        await book.finish(newCall({ charge: { mint: USDT, amount: 5n } }));
        await book.finish(newCall({ caller: two, projectId: 'prj_other' }));
        await book.finish(newCall({ caller: bob }));
        const { caller: _caller, ...keyless } = newCall();
        await book.finish(keyless);
        const query = { owner: ALICE.owner, from: LATE_MARCH - 3 * DAY_MS, to: LATE_MARCH + DAY_MS };
        const one = { keyId: 'key_one', projectId: 'prj_weather' };
        const other = { keyId: 'key_two', projectId: 'prj_other', mint: USDC, amount: 10_000n, calls: 1 };

        expect(await book.spending(query)).toEqual([
          { ...one, mint: USDC, amount: 20_000n, calls: 2 },
          { ...one, mint: USDT, amount: 5n, calls: 1 },
          other,
        ]);
        expect(await book.spending({ ...query, keyId: 'key_two' })).toEqual([other]);
        expect(await book.spending({ ...query, projectId: 'prj_other' })).toEqual([other]);
        expect(await book.spending({ ...query, keyId: 'key_bob' })).toEqual([]);
        expect(await book.spending({ ...query, from: dayOf(LATE_MARCH) + DAY_MS })).toEqual([]);
        expect(await book.spendingByDay(query)).toEqual([
          { at: dayOf(LATE_MARCH) - DAY_MS, mint: USDC, amount: 10_000n, calls: 1 },
          { at: dayOf(LATE_MARCH), mint: USDC, amount: 20_000n, calls: 2 },
          { at: dayOf(LATE_MARCH), mint: USDT, amount: 5n, calls: 1 },
        ]);
      });
    });

    test('prune forgets the oldest calls, whole days of sums and ended reservations, in steps, and keeps what was spent', async () => {
      for (let at = 0; at < 5; at += 1) await book.finish(newCall({ at: LATE_MARCH + at * HOUR_MS }));
      await book.reserve(newReservation({ at: fixture.now() }));
      await fixture.advance(60_000);
      const left = async () => [
        (await book.calls({ projectId: 'prj_weather', limit: 10 })).length,
        (await hours('prj_weather', { from: 0, to: LATE_MARCH + DAY_MS })).length,
      ];
      const before = LATE_MARCH + 3 * HOUR_MS;

      expect(await book.prune(before, before, 2)).toBe(2 + 2 + 1);
      expect(await left()).toEqual([3, 5]);
      while ((await book.prune(before, before, 2)) > 0);
      expect(await left()).toEqual([2, 4]);
      expect(await usedOf()).toEqual(
        expect.arrayContaining([
          [USDC, 'day', 10_000n],
          [USDC, 'month', 10_000n],
        ]),
      );
    });
  });
}
