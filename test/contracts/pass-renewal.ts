import fc from 'fast-check';
import type { NewPass, PassStore } from '../../src/storage/passes/pass-store.js';
import { forEachTest, type PassesUnderTest, timePass } from './passes.js';

const LASTS = 1_000;
const GRACE = 100;

/** A purchase of a time that can be renewed, with a tenth of it as grace. */
export function subscription(lastsMs: number, more: Partial<NewPass> = {}): NewPass {
  return timePass(lastsMs, { graceMs: lastsMs / 10, ...more });
}

/** What every store of passes must do with those that can be renewed. */
export function passRenewalContract(name: string, open: () => Promise<PassesUnderTest>, runs: number): void {
  describe(`renewed passes in ${name}`, () => {
    let fixture: PassesUnderTest;
    let passes: PassStore;
    forEachTest(open, (opened) => {
      [fixture, passes] = [opened, opened.passes];
    });

    const endOf = async (id: string) => (await passes.find(id))?.endsAt;

    test('are good until the grace behind their end is over', async () => {
      const bought = subscription(LASTS);
      const { lastsMs: _lastsMs, ...rest } = bought;
      const endsAt = fixture.now() + LASTS + GRACE;
      expect(await passes.open(bought)).toEqual({ ...rest, openedAt: fixture.now(), endsAt, serial: 0 });
      await fixture.advance(LASTS + GRACE - 1);
      expect((await passes.find(bought.id))?.over).toBeUndefined();
      await fixture.advance(1);
      expect((await passes.find(bought.id))?.over).toBe('ended');
    });

    test.each([
      ['long before their end', 1],
      ['in the grace', LASTS + GRACE - 1],
    ])('go on from their end, and stay who they are: %s', async (_when, after) => {
      const first = await passes.open(subscription(LASTS));
      await passes.withdrawTokens(first.id);
      await fixture.advance(after);
      const renewal = subscription(LASTS);
      const renewed = await passes.open(renewal);
      expect(renewed).toEqual({ ...first, serial: 1, endsAt: first.openedAt + 2 * LASTS + GRACE });
      expect([await passes.findByPayment(renewal.paymentId), await passes.find(renewal.id)]).toEqual([
        renewed,
        undefined,
      ]);
      expect(await passes.list(first.wallet)).toEqual([renewed]);
    });

    test('are renewed once by a payment, whoever opens it and how often', async () => {
      const first = subscription(LASTS);
      const { id, openedAt } = await passes.open(first);
      const renewal = subscription(LASTS);
      await Promise.all([passes, fixture.others, passes].map((it) => it.open(renewal)));
      await passes.open(first);
      await passes.open(subscription(LASTS));
      await fixture.others.open(renewal);
      expect(await endOf(id)).toBe(openedAt + 3 * LASTS + GRACE);
    });

    test('are one pass for all who pay at once, and each of them counts', async () => {
      const bought = Array.from({ length: 6 }, () => subscription(LASTS));
      const opened = await Promise.all(bought.map((it, at) => (at % 2 === 0 ? passes : fixture.others).open(it)));
      expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
      expect(await endOf(opened[0]!.id)).toBe(opened[0]!.openedAt + 6 * LASTS + GRACE);
    });

    test('that are over are not renewed: what was paid for begins anew, and stays', async () => {
      const [ended, renewal] = [await passes.open(subscription(LASTS)), subscription(LASTS)];
      await fixture.advance(LASTS + GRACE);
      const anew = await passes.open(renewal);
      expect([anew.id, anew.endsAt]).toEqual([renewal.id, fixture.now() + LASTS + GRACE]);
      await passes.revoke(anew.id);
      const third = await passes.open(subscription(LASTS));
      expect(new Set([ended, anew, third].map(({ id }) => id)).size).toBe(3);
      expect(await passes.open(renewal)).toMatchObject({ id: anew.id, over: 'revoked' });
    });

    test('are those of the wallet, the site and the scope, and no pass that was not sold so', async () => {
      const others = [
        await passes.open(timePass(9 * LASTS)),
        await passes.open(subscription(LASTS, { wallet: 'wallet of bob' })),
        await passes.open(subscription(LASTS, { site: 'https://other.example' })),
        await passes.open(subscription(LASTS, { scope: 'GET /other' })),
      ];
      const own = await passes.open(subscription(LASTS));
      await passes.open(subscription(LASTS));
      expect(await endOf(own.id)).toBe(own.openedAt + 2 * LASTS + GRACE);
      for (const it of others) expect(await passes.find(it.id)).toEqual(it);
      const day = await passes.open(timePass(LASTS));
      expect(day.endsAt).toBe(fixture.now() + LASTS);
    });

    test('have the longest grace that was offered, and a renewal of another length', async () => {
      const { id, openedAt } = await passes.open(subscription(LASTS));
      await passes.open(subscription(10 * LASTS));
      const end = openedAt + 11 * LASTS + 10 * GRACE;
      expect([await endOf(id), (await passes.find(id))?.graceMs]).toEqual([end, 10 * GRACE]);
      await passes.open(subscription(LASTS));
      expect(await endOf(id)).toBe(end + LASTS);
    });

    test('end when what was paid for ends, to the millisecond, whatever is opened again, late or at once', async () => {
      const event = fc.record({ at: fc.nat(5), by: fc.nat(1), wait: fc.integer({ min: 0, max: LASTS }) });
      await fc.assert(
        fc.asyncProperty(
          fc.array(event, { maxLength: 12 }),
          fc.integer({ min: 1, max: 4 }),
          async (events, together) => {
            const wallet = `wallet ${Math.random()}`;
            const bought = Array.from({ length: 6 }, (_, at) => subscription(LASTS + at, { wallet, graceMs: GRACE }));
            for (let at = 0; at < events.length; at += together) {
              const some = events.slice(at, at + together);
              await Promise.all(some.map((it) => (it.by === 0 ? passes : fixture.others).open(bought[it.at]!)));
              await fixture.advance(some[0]!.wait);
            }
            const paid = new Map<string, number>();
            for (const [at, { paymentId }] of bought.entries()) {
              const pass = await passes.findByPayment(paymentId);
              expect(pass === undefined).toBe(events.every((it) => it.at !== at));
              if (pass !== undefined) paid.set(pass.id, (paid.get(pass.id) ?? 0) + LASTS + at);
            }
            for (const { id, openedAt, endsAt } of await passes.list(wallet)) {
              expect(endsAt).toBe(openedAt + paid.get(id)! + GRACE);
            }
          },
        ),
        { numRuns: runs },
      );
    });
  });
}
