import { createWorkLoop } from '../../../../src/lib/work/work-loop.js';
import { until } from '../../../helpers/until.js';

test('a thousand nudges at once are one look now and one more soon', async () => {
  let looks = 0;
  const loop = createWorkLoop(
    async () => {
      looks += 1;
      return 0;
    },
    () => {},
  );
  loop.start();
  const begun = looks;
  for (let nudge = 0; nudge < 1_000; nudge += 1) loop.nudge();
  await until(() => looks > begun);
  expect([begun, looks]).toEqual([1, 2]);
  await loop.stop();
});
