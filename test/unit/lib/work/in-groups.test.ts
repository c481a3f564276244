import { inGroups } from '../../../../src/lib/work/in-groups.js';

const NEVER = () => false;

test('who comes together goes together, and everybody gets their own result', async () => {
  const groups: (readonly number[])[] = [];
  const double = inGroups<number, number>({
    most: 3,
    isOfOne: NEVER,
    async run(items) {
      groups.push(items);
      return items.map((it) => it * 2);
    },
  });

  expect(await Promise.all([1, 2, 3, 4].map(double))).toEqual([2, 4, 6, 8]);
  expect(groups).toEqual([[1, 2, 3], [4]]);
  expect(await double(5)).toBe(10);
});

test('one that fails by itself fails alone, and a failure of all is everybody’s', async () => {
  const wrong = new Error('three');
  const run = async (items: readonly number[]) => {
    if (items.includes(3)) throw wrong;
    return items;
  };
  const alone = inGroups({ run, most: 9, isOfOne: (error) => error === wrong });
  const all = inGroups({ run, most: 9, isOfOne: NEVER });
  const outcomes = async (work: (item: number) => Promise<number>) =>
    (await Promise.allSettled([1, 3, 5].map(work))).map(({ status }) => status);

  expect(await outcomes(alone)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await outcomes(all)).toEqual(['rejected', 'rejected', 'rejected']);
});
