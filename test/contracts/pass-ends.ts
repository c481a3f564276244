import type { EventLog } from '../../src/storage/events/event-log.js';
import { newEvent } from '../../src/storage/events/events.js';
import type { Pass, PassStore } from '../../src/storage/passes/pass-store.js';
import { forEachTest, newPass, type PassesUnderTest } from './passes.js';

const OWNER = 'wallet of the seller';
const REST_MS = 1_000;

/** What every store of passes must tell of their ends. */
export function passEndsContract(
  name: string,
  open: () => Promise<PassesUnderTest & { readonly events?: EventLog }>,
): void {
  describe(`the ends of passes in ${name}`, () => {
    let fixture: PassesUnderTest & { readonly events?: EventLog };
    let passes: PassStore;
    forEachTest(open, (opened) => {
      [fixture, passes] = [opened, opened.passes];
    });

    const eventOf = ({ id, left }: Pass) =>
      newEvent({ type: left === 0n ? 'pass.used_up' : 'pass.expired', owner: OWNER, data: { id } }, fixture.now());
    const ends = async (of = passes, limit = 10) =>
      (await of.tellEnds({ usedUpForMs: REST_MS, limit }, eventOf)).map(({ id }) => id);
    const kept = async () => {
      const events = (await fixture.events?.list(OWNER, { limit: 100 })) ?? [];
      return events.map(({ type, data }) => `${type} ${data['id']}`).toReversed();
    };
    const expectKept = async (expected: readonly string[]) => {
      if (fixture.events !== undefined) expect(await kept()).toEqual(expected);
    };
    const take = (passId: string, requestId: string) => passes.debit({ passId, requestId, amount: 1n });

    test('are told once, whoever asks, with what was left', async () => {
      const day = newPass({ lastsMs: 500 });
      await passes.open(day);
      await passes.open(newPass());
      expect(await ends()).toEqual([]);
      await fixture.advance(500);
      const all = await Promise.all([ends(), ends(fixture.others), ends(), ends(fixture.others)]);
      expect(all.flat()).toEqual([day.id]);
      expect(await ends()).toEqual([]);
      await expectKept([`pass.expired ${day.id}`]);
    });

    test('are told of what is used up when it has been so for a while', async () => {
      const { id } = await passes.open(newPass({ left: 1n, lastsMs: 5_000 }));
      await take(id, 'one');
      await fixture.advance(REST_MS - 1);
      expect(await ends()).toEqual([]);
      await fixture.advance(1);
      const [told] = await passes.tellEnds({ usedUpForMs: REST_MS, limit: 1 }, eventOf);
      expect(told).toMatchObject({ id, left: 0n });
      await fixture.advance(5_000);
      expect(await ends()).toEqual([]);
      await expectKept([`pass.used_up ${id}`]);
    });

    test('are not told where a request gives its use back, until it is used up again, and never twice', async () => {
      const { id } = await passes.open(newPass({ left: 1n }));
      await take(id, 'one');
      await passes.giveBack(id, 'one');
      await fixture.advance(REST_MS);
      expect(await ends()).toEqual([]);
      await take(id, 'two');
      expect(await ends()).toEqual([]);
      await fixture.advance(REST_MS);
      expect(await ends()).toEqual([id]);
      await passes.giveBack(id, 'two');
      await take(id, 'three');
      await fixture.advance(REST_MS);
      expect(await ends()).toEqual([]);
      await expectKept([`pass.used_up ${id}`]);
    });

    test('are told of credit that an adjustment has taken the last of', async () => {
      const { id } = await passes.open(newPass({ kind: 'credit', mint: 'a mint', left: 3n }));
      await take(id, 'one');
      await passes.adjust({ passId: id, requestId: 'one', amount: 3n });
      await fixture.advance(REST_MS);
      expect(await ends()).toEqual([id]);
    });

    test('are told of what the paid request has used up alone', async () => {
      const { id } = await passes.open(newPass({ bought: 1n, left: 0n }));
      await fixture.advance(REST_MS);
      expect(await ends()).toEqual([id]);
    });

    test('are not told of what is revoked', async () => {
      const { id } = await passes.open(newPass({ lastsMs: 500 }));
      await passes.revoke(id);
      await fixture.advance(REST_MS);
      expect([await ends(), await ends()]).toEqual([[], []]);
      await expectKept([]);
    });

    test('are told a few at a time', async () => {
      const all = await Promise.all([1, 2, 3].map(() => passes.open(newPass({ lastsMs: 500 }))));
      await fixture.advance(500);
      const told = [...(await ends(passes, 2)), ...(await ends(passes, 2))];
      expect(told.toSorted()).toEqual(all.map(({ id }) => id).toSorted());
    });

    test('may be told to nobody', async () => {
      const { id } = await passes.open(newPass({ lastsMs: 500 }));
      await fixture.advance(500);
      const told = await passes.tellEnds({ usedUpForMs: REST_MS, limit: 9 }, () => undefined);
      expect([told.map((it) => it.id), await ends()]).toEqual([[id], []]);
      await expectKept([]);
    });

    test('begin with an event that is written with the pass, once', async () => {
      const pass = newPass({ owner: OWNER, projectId: 'prj_1' });
      const event = () => newEvent({ type: 'pass.created', owner: OWNER, data: { id: pass.id } }, fixture.now());
      await Promise.all([passes.open(pass, [event()]), fixture.others.open(pass, [event()])]);
      expect(await passes.open({ ...pass, id: 'pas_other' }, [event()])).toMatchObject(pass);
      await expectKept([`pass.created ${pass.id}`]);
    });
  });
}
