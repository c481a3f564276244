import fc from 'fast-check';
import { latencyBucket, latencyPercentile } from '../../../../src/storage/calls/latency-buckets.js';

test('a duration is read back to within 5 % and half a millisecond', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 600_000, noNaN: true }), (duration) => {
      const read = latencyPercentile(new Map([[latencyBucket(duration), 3]]), 0.5) ?? 0;
      expect(Math.abs(read - duration)).toBeLessThanOrEqual(duration * 0.05 + 0.51);
    }),
  );
});

test('longer durations are in no lower bucket, and the buckets are few', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, noNaN: true }), fc.double({ min: 0, noNaN: true }), (a, b) => {
      const [short, long] = [Math.min(a, b), Math.max(a, b)].map(latencyBucket);
      expect(short).toBeLessThanOrEqual(long ?? 0);
      expect(long).toBeLessThanOrEqual(200);
    }),
  );
});

test('a percentile is that of all buckets, and of none there is none', () => {
  const buckets = new Map([
    [latencyBucket(1_000), 5],
    [latencyBucket(10), 95],
  ]);
  const near = (milliseconds: number) => latencyPercentile(new Map([[latencyBucket(milliseconds), 1]]), 0.5);
  expect(latencyPercentile(buckets, 0.95)).toBe(near(10));
  expect(latencyPercentile(buckets, 0.96)).toBe(near(1_000));
  expect(latencyPercentile(new Map(), 0.5)).toBeUndefined();
  expect([-1, 0, Number.NaN].map(latencyBucket)).toEqual([0, 0, 0]);
});
