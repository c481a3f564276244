import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';

/** Resolves when a figure is more than nothing and has not changed for some looks. */
export async function standsStill(figure: () => number): Promise<void> {
  let before = -1;
  let same = 0;
  while (same < 50) {
    await setTimeout(5);
    await nextTurn();
    same = figure() === before && before > 0 ? same + 1 : 0;
    before = figure();
  }
}
