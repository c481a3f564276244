import { createHoldUps } from '../../../../src/gateway/proxy/hold-ups.js';
import { testClock } from '../../../helpers/test-clock.js';

const OF_UNKNOWN_LENGTH = { bytes: 1_000, declaredBytes: undefined };

/** Hold-ups since now, and a clock: `waits` and `flows` let so many seconds go by. */
function begin() {
  const { now, advance } = testClock();
  const holdUps = createHoldUps(now);
  return {
    holdUps,
    flows: (seconds: number) => advance(seconds * 1_000),
    async waits(seconds: number) {
      holdUps.begin();
      await advance(seconds * 1_000);
      holdUps.end();
    },
  };
}

describe('a caller is to blame for the break of an upstream', () => {
  test('that waits for him since five seconds, and not a moment before', async () => {
    const { holdUps, flows } = begin();
    holdUps.begin();
    await flows(4.999);
    expect(holdUps.areToBlame(OF_UNKNOWN_LENGTH)).toBe(false);
    await flows(0.001);
    expect(holdUps.areToBlame(OF_UNKNOWN_LENGTH)).toBe(true);
  });

  test('that is seen when he reads on', async () => {
    const { holdUps, waits } = begin();
    await waits(5);
    expect(holdUps.areToBlame(OF_UNKNOWN_LENGTH)).toBe(true);
  });

  test.each([
    ['short of the limit with long flows between', 4.9, 10, 2],
    ['of a moment each, a byte at a time', 0.999, 0.001, 6],
  ])('that he has had wait again and again, %s', async (_what, waiting, flowing, times) => {
    const { holdUps, flows, waits } = begin();
    for (let n = 0; n < times; n += 1) {
      await waits(waiting);
      await flows(flowing);
    }
    expect(holdUps.areToBlame(OF_UNKNOWN_LENGTH)).toBe(true);
  });

  test('that has a limit for the whole, though he has long read on', async () => {
    const { holdUps, flows, waits } = begin();
    await waits(150);
    await flows(90);
    // It would have come in 100 seconds.
    expect(holdUps.areToBlame({ bytes: 90, declaredBytes: 100 })).toBe(true);
    expect(holdUps.areToBlame(OF_UNKNOWN_LENGTH)).toBe(true);
  });

  test('that he has had wait within the last half minute, whatever was left', async () => {
    const { holdUps, flows, waits } = begin();
    await flows(60);
    await waits(6);
    expect(holdUps.areToBlame({ bytes: 1, declaredBytes: 100 })).toBe(true);
    await flows(29);
    expect(holdUps.areToBlame({ bytes: 1, declaredBytes: 100 })).toBe(true);
  });
});

describe('a caller is not to blame for the break of an upstream', () => {
  test('that has not waited for him', async () => {
    const { holdUps, flows } = begin();
    await flows(600);
    holdUps.end();
    expect(holdUps.areToBlame(OF_UNKNOWN_LENGTH)).toBe(false);
  });

  test('that has waited less than five seconds in all', async () => {
    const { holdUps, flows, waits } = begin();
    for (let n = 0; n < 4; n += 1) {
      await waits(1.2);
      await flows(1);
    }
    expect(holdUps.areToBlame(OF_UNKNOWN_LENGTH)).toBe(false);
  });

  test('that has waited once, long ago, where more was left than would have come in the time', async () => {
    const { holdUps, flows, waits } = begin();
    await waits(10);
    await flows(100);
    expect(holdUps.areToBlame({ bytes: 90, declaredBytes: 100 })).toBe(false);
    expect(holdUps.areToBlame({ bytes: 91, declaredBytes: 100 })).toBe(true);
  });
});

test('waiting that has begun begins once, however often that is told', async () => {
  const { holdUps, flows } = begin();
  holdUps.begin();
  await flows(3);
  holdUps.begin();
  await flows(2);
  holdUps.end();
  holdUps.end();
  expect(holdUps.areToBlame(OF_UNKNOWN_LENGTH)).toBe(true);
});
