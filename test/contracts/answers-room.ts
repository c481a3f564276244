import type { IdempotencyBounds, IdempotencyStore } from '../../src/storage/idempotency/idempotency-store.js';
import { newRun, type ResponsesUnderTest } from './idempotency-store.js';

/** A store whose room is small, and what makes free what is too much. */
export interface RoomUnderTest extends ResponsesUnderTest {
  makeFree(): Promise<unknown>;
}

const BOUNDS = { maxBytes: 100_000 };
const PAYLOAD = new Uint8Array(1_000);
const OTHERS = 300;

/** How every implementation of `IdempotencyStore` shares its room between what was paid for and what was not. */
export function answersRoomContract(name: string, open: (bounds: IdempotencyBounds) => Promise<RoomUnderTest>): void {
  describe(`${name}, where there is no room`, () => {
    let store: IdempotencyStore;
    let fixture: RoomUnderTest;

    beforeEach(async () => {
      fixture = await open(BOUNDS);
      ({ store } = fixture);
    });
    afterEach(() => fixture.close());

    /** Keeps responses, half of them of runs; answers how many of them are left. */
    async function keep(count: number, ownerOf: (n: number) => string, isPaid: boolean) {
      const left: (() => Promise<boolean>)[] = [];
      for (let n = 0; n < count; n += 1) {
        const run = newRun({ owner: ownerOf(n) });
        if (n % 2 === 0) {
          await store.put(run.id, PAYLOAD, run.owner, isPaid);
          left.push(async () => (await store.get(run.id)) !== undefined);
        } else {
          await store.begin(run);
          await store.finish(run.id, run.lease, PAYLOAD, isPaid ? run.owner : undefined);
          left.push(async () => (await store.find(run.id, run.fingerprint))?.status === 'replay');
        }
      }
      return async () => (await Promise.all(left.map((it) => it()))).filter(Boolean).length;
    }

    test('what was paid for stays, however many wallets keep what was not', async () => {
      const paid = await keep(20, () => 'payer', true);
      const unpaid = await keep(OTHERS, (n) => `wallet ${n}`, false);
      await fixture.makeFree();
      expect(await paid()).toBe(20);
      const left = await unpaid();
      expect(left).toBeGreaterThan(30);
      expect(left).toBeLessThan(50);
    });

    test('a run that is under way stays as well, and its response is kept where it was paid for', async () => {
      const run = newRun({ owner: 'payer' });
      await store.begin(run);
      await keep(OTHERS, (n) => `wallet ${n}`, false);
      await fixture.makeFree();
      expect(await store.finish(run.id, run.lease, PAYLOAD, 'payer')).toBe(true);
      await fixture.makeFree();
      expect(await store.find(run.id, run.fingerprint)).toMatchObject({ status: 'replay' });
    });

    test('what was paid for goes once nothing else is left, and then of those who have most', async () => {
      const unpaid = await keep(20, (n) => `wallet ${n}`, false);
      const small = await keep(4, () => 'small', true);
      const large = await keep(100, () => 'large', true);
      await fixture.makeFree();
      expect([await unpaid(), await small()]).toEqual([0, 4]);
      const left = await large();
      expect(left).toBeGreaterThan(50);
      expect(left).toBeLessThan(65);
    });

    test('what one has paid for under the names of many takes his share, and pushes out only his own', async () => {
      const others = await keep(4, () => 'payer', true);
      const left: (() => Promise<boolean>)[] = [];
      for (let n = 0; n < 100; n += 1) {
        const run = newRun({ owner: `wallet ${n}` });
        await store.begin(run);
        await store.finish(run.id, run.lease, PAYLOAD, 'flooder');
        left.push(async () => (await store.find(run.id, run.fingerprint))?.status === 'replay');
      }
      await fixture.makeFree();
      expect(await others()).toBe(4);
      const kept = (await Promise.all(left.map((it) => it()))).filter(Boolean).length;
      expect(kept).toBeGreaterThan(50);
      expect(kept).toBeLessThan(65);
    });

    test('what was paid for and has room loses nothing to what has none beside it', async () => {
      const paid = await keep(66, () => 'payer', true);
      for (let n = 0; n < 10; n += 1) await store.put(newRun().id, PAYLOAD, `wallet ${n}`);
      await fixture.makeFree();
      expect(await paid()).toBe(66);
    });
  });
}
