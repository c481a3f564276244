import type { Debit, NewPass, PassStore } from '../../src/storage/passes/pass-store.js';
import { forEachTest, newPass, type PassesUnderTest } from './passes.js';

/** What every store of passes must do with credit: debits that turn out smaller, or grow. */
export function passCreditContract(name: string, open: () => Promise<PassesUnderTest>): void {
  describe(`passes of credit in ${name}`, () => {
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
    const credit = (more: Partial<NewPass> = {}) => newPass({ kind: 'credit', mint: 'a mint', bought: 100n, ...more });

    test('note what the paid request has taken, which is adjusted and given back like other debits', async () => {
      const pass = credit({ left: 90n });
      await Promise.all([passes.open(pass), fixture.others.open(pass)]);
      const of = { passId: pass.id, requestId: pass.paymentId };
      expect(await passes.debit({ ...of, amount: 3n })).toEqual({ ok: true, left: 90n, takenBefore: 10n });
      expect(await passes.adjust({ ...of, amount: 4n })).toEqual({ ok: true, left: 96n });
      expect(await fixture.others.adjust({ ...of, amount: 100n })).toEqual({ ok: true, left: 0n });
      expect(await passes.find(pass.id)).toMatchObject({ left: 0n, over: 'used_up' });
      expect(await passes.open(pass)).toMatchObject({ left: 0n });
      expect([await passes.giveBack(pass.id, pass.paymentId), await leftOf(pass.id)]).toEqual([true, 100n]);
    });

    test('give back the rest of a debit as often as that is asked for, and all of it then', async () => {
      const { id } = await passes.open(credit({ left: 10n }));
      const asked = request(id, { amount: 10n });
      await passes.debit(asked);
      const some = { passId: id, requestId: asked.requestId, amount: 4n };
      const both = [passes, fixture.others, passes].map((it) => it.adjust(some));
      expect(await Promise.all(both)).toEqual(Array(3).fill({ ok: true, left: 6n }));
      expect(await passes.debit(asked)).toEqual({ ok: true, left: 6n, takenBefore: 4n });
      expect([await passes.adjust({ ...some, amount: 0n }), await passes.debit(asked)]).toEqual([
        { ok: true, left: 10n },
        { ok: true, left: 10n, takenBefore: 0n },
      ]);
      expect(await passes.adjust({ ...some, amount: 7n })).toEqual({ ok: true, left: 3n });
      expect([await passes.giveBack(id, asked.requestId), await leftOf(id)]).toEqual([true, 10n]);
      expect(await passes.adjust(some)).toEqual({ ok: false, fault: 'unknown' });
      expect(await passes.adjust({ ...some, passId: 'pas_none' })).toEqual({ ok: false, fault: 'unknown' });
    });

    test('take more for a debit while it is there, and nothing where it is not', async () => {
      const { id } = await passes.open(credit({ left: 10n }));
      const [one, two] = [request(id, { amount: 5n }), request(id, { amount: 4n })];
      await passes.debit(one);
      await passes.debit(two);
      expect(await passes.adjust({ ...one, amount: 7n })).toEqual({ ok: false, fault: 'used_up' });
      expect(await passes.adjust({ ...one, amount: 6n })).toEqual({ ok: true, left: 0n });
      expect(await passes.adjust({ ...one, amount: 6n })).toEqual({ ok: true, left: 0n });
      expect(await passes.adjust({ ...two, amount: 5n })).toEqual({ ok: false, fault: 'used_up' });
      expect(await passes.adjust({ ...two, amount: 2n ** 64n })).toEqual({ ok: false, fault: 'used_up' });
      expect(await passes.adjust({ ...two, amount: 1n })).toEqual({ ok: true, left: 3n });
      expect(await passes.find(id)).not.toHaveProperty('over');
    });

    test.each([
      ['revoked', (id: string) => passes.revoke(id)],
      ['ended', () => fixture.advance(1_000)],
    ] as const)('that are %s take no more for a debit, and what is less stays given back', async (fault, end) => {
      const { id } = await passes.open(credit({ left: 50n, lastsMs: 1_000 }));
      const asked = request(id, { amount: 10n });
      await passes.debit(asked);
      await end(id);
      expect(await passes.adjust({ ...asked, amount: 11n })).toEqual({ ok: false, fault });
      expect(await passes.adjust({ ...asked, amount: 10n })).toEqual({ ok: true, left: 40n });
      expect(await passes.adjust({ ...asked, amount: 4n })).toEqual({ ok: true, left: 46n });
      expect(await passes.find(id)).toMatchObject({ left: 46n, over: fault });
    });

    test('of which the last is asked for by many debits at once give it to one', async () => {
      const { id } = await passes.open(credit({ left: 5n }));
      const asked = Array.from({ length: 4 }, () => request(id));
      await Promise.all(asked.map((it) => passes.debit(it)));
      const grown = asked.map((it, at) => [passes, fixture.others][at % 2]!.adjust({ ...it, amount: 2n }));
      expect((await Promise.all(grown)).filter(({ ok }) => ok)).toEqual([{ ok: true, left: 0n }]);
      expect(await leftOf(id)).toBe(0n);
    });
  });
}
