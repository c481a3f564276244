import fc from 'fast-check';
import { createHoldingTimes, type HoldingTimes, type HoldingTimesOptions } from '../../../src/access/holding-times.js';
import { createMemoryHeldTimes } from '../../../src/storage/held/memory-held-times.js';

const [MINUTE_MS, YEAR_MS] = [60_000, 365 * 86_400_000];
/** A token cannot be passed on quicker. */
const QUICKEST_MS = 400;
/** From a minute to a year, as many short ones as long ones. */
const aPeriod = fc
  .double({ min: 0, max: Math.log(YEAR_MS / MINUTE_MS), noNaN: true })
  .map((it) => MINUTE_MS * Math.exp(it));
const periods = fc.oneof(fc.constantFrom(MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS), aPeriod);

/** Times on a clock of their own, looked after at the moments that they name. */
class Watch {
  time = 1_700_000_000_000;
  /** How many wallets were looked at. */
  looks = 0;
  readonly times: HoldingTimes;
  #nextLook = Number.POSITIVE_INFINITY;

  constructor() {
    this.times = createHoldingTimes({ store: createMemoryHeldTimes(), now: () => this.time });
  }

  rule(heldForMs: number, holds: (wallet: string) => boolean) {
    const rule = {
      name: `rule of ${heldForMs}`,
      heldForMs,
      holds: (wallet: string) => {
        this.looks += 1;
        return holds(wallet);
      },
    };
    this.times.watch(rule);
    this.#nextLook = this.time + this.times.nextLookMs();
    return rule;
  }

  async waitUntil(time: number): Promise<void> {
    while (this.#nextLook <= time) {
      this.time = this.#nextLook;
      await this.times.look();
      this.#nextLook = this.time + this.times.nextLookMs();
    }
    this.time = time;
  }
}

test.each([{}, { store: {} }, undefined, { store: createMemoryHeldTimes(), clock: Date.now }])(
  'times over no store are refused at once: %j',
  (options) => {
    expect(() => createHoldingTimes(options as object as HoldingTimesOptions)).toThrow(
      /^createHoldingTimes: .*(store|clock)/,
    );
  },
);

describe('a time for which a wallet must be seen holding something', () => {
  test('lets in every wallet that has held it, whatever the time, though it comes only at the beginning and the end', async () => {
    const property = fc.asyncProperty(periods, fc.boolean(), async (heldForMs, isAlone) => {
      const watch = new Watch();
      if (!isAlone) watch.rule(YEAR_MS, () => true);
      const rule = watch.rule(heldForMs, () => true);
      const start = watch.time;
      await watch.times.heldMs(rule, 'holder');
      await watch.waitUntil(start + 1.3 * heldForMs);

      expect(await watch.times.heldMs(rule, 'holder')).toBeGreaterThanOrEqual(heldForMs);
    });
    await fc.assert(property, { numRuns: 100 });
  });

  test('lets in every wallet that comes again and again', async () => {
    const visits = fc.integer({ min: 2, max: 40 });
    const property = fc.asyncProperty(periods, visits, async (heldForMs, times) => {
      const watch = new Watch();
      const rule = watch.rule(heldForMs, () => true);
      const start = watch.time;
      let held = await watch.times.heldMs(rule, 'holder');
      for (let visit = 1; visit <= times; visit += 1) {
        await watch.waitUntil(start + (1.3 * heldForMs * visit) / times);
        held = await watch.times.heldMs(rule, 'holder');
      }
      expect(held).toBeGreaterThanOrEqual(heldForMs);
    });
    await fc.assert(property, { numRuns: 50 });
  });

  test('lets in none of ten wallets that pass one token around, each of which holds it whenever it comes', async () => {
    const rounds = fc.double({ min: 0.05, max: 1, noNaN: true });
    const upToADay = periods.map((it) => Math.min(it, 1_440 * MINUTE_MS));
    const property = fc.asyncProperty(upToADay, rounds, async (heldForMs, share) => {
      const watch = new Watch();
      const turnMs = Math.max((heldForMs * share) / 10, QUICKEST_MS);
      const start = watch.time;
      const turnAt = (time: number) => Math.floor((time - start) / turnMs);
      const rule = watch.rule(heldForMs, (wallet) => wallet === `wallet ${turnAt(watch.time) % 10}`);
      while (watch.time < start + 3 * heldForMs) {
        const wallet = `wallet ${turnAt(watch.time) % 10}`;
        expect(await watch.times.heldMs(rule, wallet)).toBeLessThan(heldForMs);
        await watch.waitUntil(start + (turnAt(watch.time) + 1) * turnMs + 1);
      }
    });
    await fc.assert(property, { numRuns: 50 });
  });

  test('has no more than some thousand wallets a minute looked at, however short it is', async () => {
    const watch = new Watch();
    const rule = watch.rule(MINUTE_MS, () => true);
    for (let n = 0; n < 3_000; n += 1) await watch.times.heldMs(rule, `wallet ${n}`);
    const start = watch.time;
    await watch.waitUntil(start + 10 * MINUTE_MS);

    expect(watch.looks).toBeGreaterThan(5_000);
    expect(watch.looks).toBeLessThan(13_000);
  });
});
