import { createAddressBuckets } from '../../../../src/server/flood-guard/address-buckets.js';
import { testClock } from '../../../helpers/test-clock.js';

const { now, advance } = testClock();
const newBuckets = () => createAddressBuckets({ perSecond: 10, burst: 40, now });

/** How many of some requests an address may send at once. */
function taken(buckets: ReturnType<typeof newBuckets>, address: string, tries = 100): number {
  return Array.from({ length: tries }, () => buckets(address).take()).filter(Boolean).length;
}

test('a burst, and then as many as come back', async () => {
  const buckets = newBuckets();
  expect(taken(buckets, '192.0.2.1')).toBe(40);
  await advance(50);
  expect(taken(buckets, '192.0.2.1')).toBe(0);
  await advance(50);
  expect(taken(buckets, '192.0.2.1')).toBe(1);
  await advance(1_000);
  expect(taken(buckets, '192.0.2.1')).toBe(10);
  await advance(3_600_000);
  expect(taken(buckets, '192.0.2.1')).toBe(40);
});

test('an address that sends too much rests, longer each time that it goes on; after a while it is as before', async () => {
  const bucket = newBuckets()('192.0.2.1');
  for (const seconds of [1, 2, 4, 8, 8]) {
    bucket.letRest();
    bucket.letRest();
    expect(bucket.restMs()).toBe(seconds * 1_000);
    expect(bucket.take()).toBe(false);
    await advance(seconds * 1_000 - 1);
    expect(bucket.take()).toBe(false);
    await advance(101);
    expect([bucket.restMs(), bucket.take(), bucket.take()]).toEqual([0, true, false]);
  }
  await advance(10_001);
  bucket.letRest();
  expect(bucket.restMs()).toBe(1_000);
});

test.each([
  ['192.0.2.1', '192.0.2.2', false],
  ['192.0.2.1', '::ffff:192.0.2.1', true],
  ['::ffff:192.0.2.1', '::FFFF:192.0.2.2', false],
  ['2001:db8::1', '2001:db8::ffff:2', true],
  ['2001:db8::1', '2001:db8:0:0:aaaa:bbbb:cccc:dddd', true],
  ['2001:db8::1', '2001:db8:0:1::1', false],
  ['::1', '::2', true],
])('%s and %s: one address, %p', (one, other, same) => {
  const buckets = newBuckets();
  expect(buckets(one) === buckets(other)).toBe(same);
});

test('of a bounded number of addresses is remembered what they did, the last ones', () => {
  const buckets = newBuckets();
  expect(taken(buckets, '192.0.2.1')).toBe(40);
  const others = (count: number) => {
    for (let at = 0; at < count; at += 1) buckets(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`);
  };
  others(9_999);
  expect(taken(buckets, '192.0.2.1')).toBe(0);
  others(10_000);
  expect(taken(buckets, '192.0.2.1')).toBe(40);
});
