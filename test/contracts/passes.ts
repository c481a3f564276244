import fc from 'fast-check';
import { type Debit, type NewPass, type PassStore, PRICE_OF } from '../../src/storage/passes/pass-store.js';

/** A store of passes, and another one on the same database where there is one. */
export interface PassesUnderTest {
  readonly passes: PassStore;
  readonly others: PassStore;
  now(): number;
  advance(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const ALICE = 'wallet of alice';
const PLACE = { site: 'https://shop.example', scope: 'GET /report' };
const USES = 5n;
let made = 0;

/** A pass of five uses, of which the paid request has had the first. */
export function newPass(more: Partial<NewPass> = {}): NewPass {
  made += 1;
  const pass = { id: `pas_${made}`, paymentId: `payment ${made}`, wallet: ALICE, ...PLACE, kind: 'uses' as const };
  return { ...pass, bought: USES, left: USES - 1n, ...more };
}

/** A pass for a time alone. */
export function timePass(lastsMs: number, more: Partial<NewPass> = {}): NewPass {
  const { bought: _bought, left: _left, ...pass } = newPass({ kind: 'until', lastsMs, ...more });
  return pass;
}

/** Opens stores for each test of a block, and closes them after it. */
export function forEachTest<Stores extends PassesUnderTest>(
  open: () => Promise<Stores>,
  use: (stores: Stores) => void,
) {
  let stores: Stores | undefined;
  beforeEach(async () => {
    stores = await open();
    use(stores);
  });
  afterEach(() => stores?.close());
}

/** What every store of passes must do. */
export function passesContract(name: string, open: () => Promise<PassesUnderTest>, runs: number): void {
  describe(`passes in ${name}`, () => {
    let fixture: PassesUnderTest;
    let passes: PassStore;
    forEachTest(open, (opened) => {
      [fixture, passes] = [opened, opened.passes];
    });

    let requests = 0;
    const request = (passId: string, more: Partial<Debit> = {}): Debit => {
      requests += 1;
      return { passId, requestId: `request ${requests}`, amount: 1n, ...more };
    };
    const leftOf = async (id: string) => (await passes.find(id))?.left;

    test('are made once by a payment, whoever opens them and how often', async () => {
      const pass = newPass();
      const opened = { ...pass, openedAt: fixture.now(), serial: 0 };
      const again = { ...pass, id: 'pas_another', left: 99n };
      const all = await Promise.all([passes.open(pass), fixture.others.open(pass)]);
      expect([...all, await passes.open(again)]).toEqual([opened, opened, opened]);
      expect([await passes.find(pass.id), await passes.findByPayment(pass.paymentId)]).toEqual([opened, opened]);
      expect([await passes.find('pas_another'), await passes.findByPayment('none')]).toEqual([undefined, undefined]);
    });

    test('keep all that was said of them', async () => {
      const { now } = fixture;
      const life = { openedAt: now(), endsAt: now() + 1_000, serial: 0 };
      const credit = newPass({ kind: 'credit', mint: 'a mint', bought: 2n ** 62n, left: 2n ** 62n - 1n });
      await passes.open({ ...credit, lastsMs: 1_000 });
      expect(await passes.find(credit.id)).toEqual({ ...credit, ...life });
      const { lastsMs: _lastsMs, ...day } = timePass(1_000);
      expect(await passes.open({ ...day, lastsMs: 1_000 })).toEqual({ ...day, ...life });
    });

    test('are debited to nothing and not below, and say then that they are used up', async () => {
      const { id } = await passes.open(newPass({ left: 2n }));
      expect(await passes.debit(request(id))).toEqual({ ok: true, left: 1n });
      expect(await passes.debit(request(id, { amount: 2n }))).toEqual({ ok: false, fault: 'used_up' });
      expect(await passes.debit(request(id))).toEqual({ ok: true, left: 0n });
      expect(await passes.debit(request(id))).toEqual({ ok: false, fault: 'used_up' });
      expect(await passes.find(id)).toMatchObject({ left: 0n, over: 'used_up' });
    });

    test('are debited once for a request, which may ask again when nothing is left', async () => {
      const { id } = await passes.open(newPass({ left: 1n }));
      const once = request(id);
      expect(await passes.debit(once)).toEqual({ ok: true, left: 0n });
      expect(await passes.debit(once)).toEqual({ ok: true, left: 0n, takenBefore: 1n });
      expect(await fixture.others.debit(once)).toEqual({ ok: true, left: 0n, takenBefore: 1n });
    });

    test('are debited once for a request that is brought several times at once', async () => {
      const { id } = await passes.open(newPass({ left: 4n }));
      const once = request(id);
      const results = await Promise.all([passes, fixture.others, passes, fixture.others].map((it) => it.debit(once)));
      expect(results.map(({ ok }) => ok)).toEqual([true, true, true, true]);
      expect(await leftOf(id)).toBe(3n);
    });

    test('of which the last use is asked for by many at once give it to one', async () => {
      const { id } = await passes.open(newPass({ left: 1n }));
      const both = [passes, fixture.others];
      const results = await Promise.all(both.flatMap((it) => [it.debit(request(id)), it.debit(request(id))]));
      expect(results.filter(({ ok }) => ok)).toHaveLength(1);
      expect(results.filter(({ ok }) => !ok)).toEqual(Array(3).fill({ ok: false, fault: 'used_up' }));
    });

    test('take what there is for some of many who come together and ask for more', async () => {
      const [one, two] = [await passes.open(newPass({ left: 3n })), await passes.open(newPass({ left: 2n }))];
      const asked = [one, one, two, one, one, two].map(({ id }) => passes.debit(request(id)));
      const results = await Promise.all(asked);
      expect(results.map((it) => (it.ok ? it.left : it.fault))).toEqual([2n, 1n, 1n, 0n, 'used_up', 0n]);
    });

    test('tell what a request has taken until it was given back', async () => {
      const { id, paymentId } = await passes.open(newPass());
      const once = request(id, { amount: 2n });
      await passes.debit(once);
      const told = () => Promise.all([paymentId, once.requestId, 'none'].map((it) => fixture.others.taken(id, it)));
      expect(await told()).toEqual([1n, 2n, undefined]);
      await passes.adjust({ ...once, amount: 3n });
      await passes.giveBack(id, paymentId);
      expect([await told(), await passes.taken('none', paymentId)]).toEqual([[undefined, 3n, undefined], undefined]);
    });

    test('have what the paid request took as its debit, which is given back once and can be taken again', async () => {
      const { id, paymentId } = await passes.open(newPass());
      expect(await passes.debit(request(id, { requestId: paymentId }))).toEqual({
        ok: true,
        left: 4n,
        takenBefore: 1n,
      });
      const backs = [passes.giveBack(id, paymentId), fixture.others.giveBack(id, paymentId)];
      expect((await Promise.all(backs)).sort()).toEqual([false, true]);
      expect(await leftOf(id)).toBe(5n);
      const again = [passes, fixture.others].map((it) => it.debit(request(id, { requestId: paymentId })));
      expect((await Promise.all(again)).filter((it) => it.ok && it.takenBefore === undefined)).toHaveLength(1);
      expect(await leftOf(id)).toBe(4n);
    });

    test('of whole credit have no debit of their payment', async () => {
      const { id, paymentId } = await passes.open(newPass({ kind: 'credit', mint: 'a mint', left: USES }));
      expect([await passes.giveBack(id, paymentId), await leftOf(id)]).toEqual([false, USES]);
      expect(await passes.debit(request(id, { requestId: paymentId }))).toEqual({
        ok: true,
        left: 4n,
      });
    });

    test('tell for which prices somebody has credit, as long as something is left', async () => {
      const priced = { kind: 'credit', mint: 'a mint', left: USES } as const;
      const one = await passes.open(newPass({ ...priced, scope: `${PRICE_OF}GET /a` }));
      await passes.open(newPass({ ...priced, scope: `${PRICE_OF}GET /a` }));
      const other = await passes.open(newPass({ ...priced, scope: `${PRICE_OF}GET /b` }));
      await passes.open(newPass({ ...priced, scope: 'GET /c' }));
      const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((it) => `${PRICE_OF}GET /${it}`) as [
        string,
        string,
        string,
        string,
      ];
      const all = [d, b, c, a];
      expect(await fixture.others.priceScopes(all)).toEqual([b, a]);
      expect([await passes.priceScopes([b]), await passes.priceScopes([])]).toEqual([[b], []]);
      await passes.debit(request(other.id, { amount: USES, requestId: 'all' }));
      await passes.revoke(one.id);
      expect(await passes.priceScopes(all)).toEqual([a]);
      await passes.giveBack(other.id, 'all');
      expect(await passes.priceScopes(all)).toEqual([b, a]);
    });

    test('get back what a request has taken, once, and are good again', async () => {
      const { id } = await passes.open(newPass({ left: 1n }));
      const asked = request(id);
      await passes.debit(asked);
      const backs = [passes.giveBack(id, asked.requestId), fixture.others.giveBack(id, asked.requestId)];
      expect((await Promise.all(backs)).sort()).toEqual([false, true]);
      expect(await passes.giveBack(id, asked.requestId)).toBe(false);
      expect(await passes.giveBack(id, 'never asked')).toBe(false);
      expect(await leftOf(id)).toBe(1n);
      expect(await passes.debit(asked)).toEqual({ ok: true, left: 0n });
    });

    test('give nothing to a debit that arrives after what it was to take was given back for good', async () => {
      const { id } = await passes.open(newPass());
      const [late, taken] = [request(id, { requestId: 'late' }), request(id, { requestId: 'taken' })];
      expect(await passes.giveBack(id, 'late', true)).toBe(false);
      await passes.debit(taken);
      expect(await fixture.others.giveBack(id, 'taken', true)).toBe(true);
      const atOnce = await Promise.all([late, taken, request(id), late].map((it) => fixture.others.debit(it)));
      expect(atOnce.map((it) => it.ok && it.takenBefore)).toEqual([0n, 0n, undefined, 0n]);
      expect([await passes.giveBack(id, 'late', true), await leftOf(id)]).toEqual([false, USES - 2n]);
    });

    test('that have ended cover nothing more, though something is left', async () => {
      const { id } = await passes.open(newPass({ lastsMs: 1_000 }));
      await fixture.advance(999);
      expect(await passes.debit(request(id))).toMatchObject({ ok: true });
      await fixture.advance(1);
      expect(await passes.debit(request(id))).toEqual({ ok: false, fault: 'ended' });
    });

    test('that are revoked cover nothing more; what is given back to them stays', async () => {
      const { id } = await passes.open(newPass());
      const asked = request(id);
      await passes.debit(asked);
      expect([await passes.revoke(id), await passes.revoke(id), await passes.revoke('none')]).toEqual([
        true,
        false,
        false,
      ]);
      expect(await passes.giveBack(id, asked.requestId)).toBe(true);
      expect(await passes.debit(request(id))).toEqual({ ok: false, fault: 'revoked' });
      expect(await passes.find(id)).toMatchObject({ left: 4n, revokedAt: fixture.now(), over: 'revoked' });
    });

    test('have no balance where they are for a time, and none that nobody knows', async () => {
      const day = await passes.open(timePass(1_000));
      for (const id of [day.id, 'pas_none']) {
        expect(await passes.debit(request(id))).toEqual({ ok: false, fault: 'unknown' });
      }
    });

    test('take no token that was withdrawn, and the one that was issued anew', async () => {
      const { id } = await passes.open(newPass());
      expect(await passes.debit(request(id, { serial: 0 }))).toMatchObject({ ok: true });
      expect(await passes.withdrawTokens(id)).toBe(1);
      const asked = [request(id, { serial: 0 }), request(id, { serial: 1 }), request(id)];
      const results = await Promise.all(asked.map((it) => passes.debit(it)));
      expect(results.map((it) => (it.ok ? 'taken' : it.fault))).toEqual(['revoked', 'taken', 'taken']);
      expect(await passes.withdrawTokens('pas_none')).toBeUndefined();
    });

    test('are found for a wallet and a place, those that last longest first', async () => {
      const [day, spent, forever, month] = [
        await passes.open(newPass({ lastsMs: 60_000 })),
        await passes.open(newPass({ left: 0n })),
        await passes.open(newPass()),
        await passes.open(timePass(60_001)),
      ];
      await passes.open(newPass({ wallet: 'wallet of bob' }));
      await passes.open(newPass({ site: 'https://other.example' }));
      await passes.open(newPass({ scope: 'GET /other' }));
      const found = await passes.findFor({ wallet: ALICE, ...PLACE });
      expect(found.map(({ id }) => id)).toEqual([forever, month, day, spent].map((it) => it?.id));
    });

    test('are listed for their wallet, the newest first', async () => {
      const first = await passes.open(newPass());
      await fixture.advance(1);
      const second = await passes.open(newPass({ scope: 'GET /other' }));
      await passes.open(newPass({ wallet: 'wallet of bob' }));
      expect((await passes.list(ALICE)).map(({ id }) => id)).toEqual([second.id, first.id]);
      expect(await passes.list('wallet of carol')).toEqual([]);
    });

    test('have one secret for their tokens, whoever asks first', async () => {
      const [one, other] = await Promise.all([passes.tokenSecret(), fixture.others.tokenSecret()]);
      expect(one).toHaveLength(32);
      expect(Buffer.from(other)).toEqual(Buffer.from(one));
    });

    test('are worth what was bought and not used, to the unit, whatever is taken, adjusted and given back in which order', async () => {
      const event = fc.record({
        what: fc.constantFrom('debit', 'debit', 'adjust', 'adjust', 'repeat', 'giveBack'),
        amount: fc.bigInt(1n, 6n),
        settled: fc.bigInt(0n, 8n),
        at: fc.nat(9),
        by: fc.nat(1),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(event, { maxLength: 24 }),
          fc.integer({ min: 1, max: 8 }),
          async (events, together) => {
            const bought = 20n;
            const { id, paymentId } = await passes.open(newPass({ kind: 'credit', bought, left: bought - 2n }));
            const asked: Debit[] = [{ passId: id, requestId: paymentId, amount: 2n }];
            const run = async ({ what, amount, settled, at, by }: (typeof events)[number]): Promise<unknown> => {
              const store = by === 0 ? passes : fixture.others;
              const before = asked[at];
              if (what === 'debit') asked.push(request(id, { amount }));
              if (what === 'debit') return store.debit(asked.at(-1)!);
              if (before === undefined) return undefined;
              if (what === 'adjust') return store.adjust({ ...before, amount: settled });
              return what === 'repeat' ? store.debit(before) : store.giveBack(id, before.requestId);
            };
            for (let at = 0; at < events.length; at += together) {
              await Promise.all(events.slice(at, at + together).map(run));
            }
            const left = (await leftOf(id))!;
            for (const it of asked) await passes.giveBack(id, it.requestId);
            expect([left >= 0n, left <= bought, await leftOf(id)]).toEqual([true, true, bought]);
          },
        ),
        { numRuns: runs },
      );
    });
  });
}
