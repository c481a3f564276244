import type { HeldTimes } from '../../src/storage/held/held-times.js';

const HOUR = 3_600_000;
const GAP = 6 * HOUR;
const START = 1_700_000_000_000;

/** What every store of held times must do. `open` gives an empty one with room for three wallets a rule. */
export function heldTimesContract(name: string, open: () => Promise<HeldTimes>): void {
  describe(`held times: ${name}`, () => {
    let times: HeldTimes;
    beforeEach(async () => {
      times = await open();
    });
    const see = (wallet: string, hours: number, rule = 'rule') =>
      times.seen({ rule, wallet, at: START + hours * HOUR, gapMs: GAP }).then((since) => (since - START) / HOUR);

    test('a wallet holds since it was first seen, as long as it is seen again in time', async () => {
      expect([await see('a', 0), await see('a', 6), await see('a', 11), await see('a', 17)]).toEqual([0, 0, 0, 0]);
      expect([await see('a', 24), await see('a', 25)]).toEqual([24, 24]);
    });

    test('a wallet that was seen without begins anew, and no other with it', async () => {
      await see('a', 0);
      await see('b', 1);
      await times.lost('rule', 'a');
      expect([await see('a', 2), await see('b', 2)]).toEqual([2, 1]);
    });

    test('rules do not know of each other', async () => {
      await see('a', 0);
      await times.lost('other', 'a');
      expect([await see('a', 1, 'other'), await see('a', 2)]).toEqual([1, 0]);
    });

    test('a sighting that comes late takes nothing back', async () => {
      await see('a', 0);
      await see('a', 5);
      expect([await see('a', 1), await see('a', 11)]).toEqual([0, 0]);
    });

    test('sightings at the same moment are one', async () => {
      expect(await Promise.all([0, 0, 0].map(() => see('a', 0)))).toEqual([0, 0, 0]);
      expect(await see('a', 1)).toBe(0);
    });

    test('wallets are due once, those first that have waited longest', async () => {
      await see('late', 2);
      await see('early', 0);
      await see('middle', 1);
      const take = (before: number, at: number, limit: number) =>
        times.takeDue('rule', START + before * HOUR, START + at * HOUR, limit);
      expect(await take(0, 3, 10)).toEqual([]);
      expect([...(await take(3, 3, 2))].sort()).toEqual(['early', 'middle']);
      expect(await take(3, 3, 2)).toEqual(['late']);
      expect(await take(3, 3, 2)).toEqual([]);
      expect(await times.takeDue('other', START + 9 * HOUR, START, 5)).toEqual([]);
    });

    test('wallets beyond the bound begin anew each time, until there is room', async () => {
      for (const wallet of ['a', 'b', 'c', 'd']) await see(wallet, 0);
      expect([await see('a', 1), await see('d', 1), await see('e', 1, 'other'), await see('e', 2, 'other')]).toEqual([
        0, 1, 1, 1,
      ]);
      await times.lost('rule', 'a');
      expect([await see('d', 2), await see('d', 3)]).toEqual([2, 2]);
    });

    test('what was not seen for long is forgotten, in steps, and nothing else', async () => {
      for (const wallet of ['a', 'b', 'c']) await see(wallet, 0);
      await see('c', 5);
      const prune = () => times.prune(START + HOUR, 1);
      expect([await prune(), await prune(), await prune()]).toEqual([1, 1, 0]);
      expect(await see('c', 6)).toBe(0);
    });
  });
}
