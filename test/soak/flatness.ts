import { quantile } from '../bench/figure.js';
import type { Sample } from './sampler.js';

/** What is to stay as it is, in a process that goes on working. */
export const WATCHED = ['rss', 'heap', 'external', 'handles'] as const;

/** One of {@link WATCHED}. */
export type Watched = (typeof WATCHED)[number];

/** How something developed in one life of a process. */
export interface Course {
  readonly what: Watched;
  /** Medians of the first and of the last third after the warm-up. */
  readonly early: number;
  readonly late: number;
  /** Growth in a minute, by least squares. */
  readonly perMinute: number;
  /** Whether it grew by no more than its bound. */
  readonly isFlat: boolean;
}

/** How much it may grow: a share, and so much in any case. */
const BOUNDS: Readonly<Record<Watched, readonly [share: number, least: number]>> = {
  rss: [0.3, 64 * 2 ** 20],
  heap: [0.25, 12 * 2 ** 20],
  external: [0.5, 16 * 2 ** 20],
  handles: [0.25, 20],
};
/** Caches fill up, and code is compiled. */
const WARM_UP_SHARE = 0.3;
/** Fewer samples say nothing. */
const LEAST_SAMPLES = 12;
const MINUTE_MS = 60_000;

/** How a process developed; undefined when its life was too short to tell. */
export function coursesOf(life: readonly Sample[]): readonly Course[] | undefined {
  const warm = life.slice(Math.floor(life.length * WARM_UP_SHARE));
  if (warm.length < LEAST_SAMPLES) return undefined;
  const third = Math.floor(warm.length / 3);
  return WATCHED.map((what) => {
    const values = warm.map((sample) => sample[what]);
    const early = quantile(values.slice(0, third), 0.5);
    const late = quantile(values.slice(-third), 0.5);
    const [share, least] = BOUNDS[what];
    const isFlat = late - early <= Math.max(early * share, least);
    return { what, early, late, perMinute: slopeOf(warm, what) * MINUTE_MS, isFlat };
  });
}

function slopeOf(samples: readonly Sample[], what: Watched): number {
  const meanAt = meanOf(samples.map(({ at }) => at));
  const mean = meanOf(samples.map((it) => it[what]));
  let [above, below] = [0, 0];
  for (const sample of samples) {
    above += (sample.at - meanAt) * (sample[what] - mean);
    below += (sample.at - meanAt) ** 2;
  }
  return below === 0 ? 0 : above / below;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, it) => sum + it, 0) / values.length;
}
