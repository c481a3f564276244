import { atMost } from '../../../../src/lib/work/at-most.js';

test('so many are at work at once, those who wait come in their order, and one that fails gives its place back', async () => {
  const inTurn = atMost(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = Array.from({ length: 5 }, (_, at) =>
    inTurn(['somebody'], async () => {
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
  expect(await inTurn([], async () => 'free')).toBe('free');
});

test('who has much done has one of it in each turn, however many names he has within his own', async () => {
  const inTurn = atMost(1);
  const done: string[] = [];
  const names = ['10/8 one', '10/8 two', '10/8 one', '10/8 three', '10/8 one', '20/8 one', '30/8 one', '20/8 one'];
  await Promise.all(
    names.map((name, at) =>
      inTurn(name.split(' '), async () => {
        done.push(`${name} ${at}`);
        await new Promise(setImmediate);
      }),
    ),
  );
  expect(done).toEqual([
    '10/8 one 0',
    '10/8 two 1',
    '20/8 one 5',
    '30/8 one 6',
    '10/8 one 2',
    '20/8 one 7',
    '10/8 three 3',
    '10/8 one 4',
  ]);
});
