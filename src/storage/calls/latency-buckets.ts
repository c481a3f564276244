/**
 * Durations are counted in buckets, each a tenth wider than the one before: any percentile of any number of hours can be
 * read from their sums, to within 5 %. Ten minutes are in bucket 140.
 */
const GROWTH = Math.log(1.1);
const MAX_BUCKET = 200;

/** The bucket of a duration in milliseconds: 0 up to 1 ms, and `n` above 1.1^(n-1) up to 1.1^n. */
export function latencyBucket(durationMs: number): number {
  if (!(durationMs > 1)) return 0;
  return Math.min(Math.ceil(Math.log(durationMs) / GROWTH), MAX_BUCKET);
}

/**
 * A percentile in whole milliseconds, the middle of the bucket in which it lies; undefined where nothing was counted.
 * @param share - 0.5 for the median
 */
export function latencyPercentile(buckets: ReadonlyMap<number, number>, share: number): number | undefined {
  const sorted = [...buckets].sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, calls]) => sum + calls, 0);
  let seen = 0;
  for (const [bucket, calls] of sorted) {
    seen += calls;
    if (seen >= total * share) return Math.round(Math.exp(GROWTH * Math.max(bucket - 0.5, 0)));
  }
  return undefined;
}
