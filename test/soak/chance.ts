/** Choices at random, the same for the same seed. */
export interface Chance {
  /** From 0 up to 1. */
  number(): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  isTrue(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** One of the values, each as often as its weight says. */
  weighted<T>(list: readonly (readonly [weight: number, value: T])[]): T;
}

/** Mulberry32: small, and good enough to choose by. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;

  function number(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  function pick<T>(list: readonly T[]): T {
    const found = list[Math.floor(number() * list.length)];
    if (found === undefined) throw new Error('there is nothing to choose from');
    return found;
  }

  return {
    number,
    between: (least, most) => least + Math.floor(number() * (most - least + 1)),
    isTrue: (probability) => number() < probability,
    pick,
    weighted(list) {
      let left = number() * list.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of list) {
        left -= weight;
        if (left < 0) return value;
      }
      return pick(list)[1];
    },
  };
}
