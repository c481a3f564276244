import type { CallStore, FinishOptions } from '../../src/storage/calls/call-store.js';
import { MOST_IN_GROUP } from '../../src/storage/calls/call-writer.js';
import {
  createSqlIdempotencyStore,
  type PrunableIdempotencyStore,
} from '../../src/storage/idempotency/sql-idempotency-store.js';
import type { BookUnderTest } from './call-book-stand.js';
import { ALICE, newCall, USDC } from './call-samples.js';
import { newRun } from './idempotency-store.js';

const PRICE = { mint: USDC, amount: 10_000n };
const LEASE_MS = 5_000;

/** What every book of calls must do with a call whose response ends a run: only who has the run may write it. */
export function callRunsContract(name: string, open: () => Promise<BookUnderTest>): void {
  const responses = [
    ['a short response', ''],
    ['a long one', 'x'.repeat(MOST_IN_GROUP)],
  ] as const;
  const cases = ['a pass', 'credit'].flatMap((payer) => responses.map((it) => [payer, ...it] as const));
  describe.each(cases)(`a call under a name that %s pays, with %s, in ${name}`, (payer, _what, more) => {
    let fixture: BookUnderTest;
    let book: CallStore;
    let answers: PrunableIdempotencyStore;
    beforeEach(async () => {
      fixture = await open();
      ({ book } = fixture);
      answers = createSqlIdempotencyStore(fixture.database, { now: fixture.now });
    });
    afterEach(() => fixture.close());

    const { charge: _charge, ...uncharged } = newCall();
    const chargedCall = () => newCall(payer === 'credit' ? { credit: { kind: 'used', charge: PRICE } } : {});

    /** What pays the call. */
    async function paidBy(): Promise<FinishOptions> {
      if (payer === 'a pass') return {};
      await book.finish({ ...uncharged, id: newCall().id, credit: { kind: 'given', charge: PRICE } });
      const held = await fixture.credit.hold({ keyId: ALICE.keyId, projectId: 'prj_weather', charge: PRICE });
      return { creditHoldId: held!.id };
    }

    async function begun(run = newRun({ leaseMs: LEASE_MS })) {
      expect(await answers.begin(run)).toMatchObject({ status: 'started' });
      return run;
    }

    const keptAs = ({ id, fingerprint, lease }: ReturnType<typeof newRun>, text: string) => ({
      kept: { store: answers, id, fingerprint, lease, answer: Buffer.from(`${text}${more}`) },
    });

    const textOf = async ({ id, fingerprint }: ReturnType<typeof newRun>) => {
      const known = await answers.find(id, fingerprint);
      return known?.status === 'replay' ? Buffer.from(known.response).toString().replace(more, '') : known?.status;
    };

    const isWritten = async (id: string) =>
      (await book.calls({ projectId: 'prj_weather', limit: 10 })).some((it) => it.id === id);

    const owed = async () => (await fixture.credit.list({ owner: ALICE.owner })).map(({ amount }) => amount);

    test('is written with its response, once, though its lease is over', async () => {
      const [paid, run, call] = [await paidBy(), await begun(), chargedCall()];
      await fixture.advance(LEASE_MS);
      expect(await book.finish(call, { ...paid, ...keptAs(run, 'first') })).toBe(true);
      expect(await fixture.other.finish(chargedCall(), { ...paid, ...keptAs(run, 'second') })).toBe(false);
      expect([await textOf(run), await isWritten(call.id), await owed()]).toEqual(['first', true, []]);
    });

    test.each(['runs', 'has run'])(
      'is not written where another %s under its name, and what pays it is left',
      async (state) => {
        const [paid, run, call] = [await paidBy(), await begun(), chargedCall()];
        await fixture.advance(LEASE_MS);
        const next = await begun(newRun({ id: run.id, leaseMs: LEASE_MS }));
        if (state === 'has run') await answers.finish(next.id, next.lease, Buffer.from('of the other'));
        expect(await book.finish(call, { ...paid, ...keptAs(run, 'mine') })).toBe(false);
        expect(await textOf(run)).toBe(state === 'runs' ? 'running' : 'of the other');
        expect([await isWritten(call.id), await owed()]).toEqual([false, payer === 'credit' ? [PRICE.amount] : []]);
      },
    );

    test('is written where its run was forgotten, or given up by another', async () => {
      const [paid, run, call] = [await paidBy(), await begun(), chargedCall()];
      await fixture.advance(LEASE_MS);
      const next = await begun(newRun({ id: run.id, leaseMs: LEASE_MS }));
      await answers.abandon(next.id, next.lease);
      expect(await book.finish(call, { ...paid, ...keptAs(run, 'mine') })).toBe(true);
      expect([await textOf(run), await isWritten(call.id), await owed()]).toEqual(['mine', true, []]);
    });

    test('of two who end the same run at once one is written', async () => {
      const [paid, run] = [await paidBy(), await begun()];
      const ended = await Promise.all(
        [book, fixture.other, book].map((it, at) => it.finish(chargedCall(), { ...paid, ...keptAs(run, `of ${at}`) })),
      );
      expect(ended.filter(Boolean)).toHaveLength(1);
      expect(await textOf(run)).toBe(`of ${ended.indexOf(true)}`);
    });
  });
}
