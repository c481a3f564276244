import { atMost } from '../../../../src/lib/work/at-most.js';

test('so many are at work at once, those who wait come in their order, and one that fails gives its place back', async () => {
  const inTurn = atMost(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = Array.from({ length: 5 }, (_, at) =>
    inTurn(async () => {
      begun.push(at);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (at === 0) throw new Error('failed');
      return at;
    }),
  );
  const settled = Promise.allSettled(all);
  for (let count = 0; count < all.length; count += 1) {
    expect(begun).toEqual([0, 1, 2, 3, 4].slice(0, count + 2));
    ends.shift()?.();
    await Promise.allSettled([all[count]]);
    await new Promise(setImmediate);
  }
  expect((await settled).map((it) => (it.status === 'fulfilled' ? it.value : String(it.reason)))).toEqual([
    'Error: failed',
    ...[1, 2, 3, 4],
  ]);
  expect(await inTurn(async () => 'free')).toBe('free');
});
