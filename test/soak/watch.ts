import type { OpenShop } from './open-shop.js';
import type { Sample } from './sampler.js';

/** What was seen of a seller's process. */
export interface Watch {
  /** Samples of each of its lives. */
  readonly lives: readonly (readonly Sample[])[];
  readonly last: Sample | undefined;
  /** Looks at it. */
  look(): Promise<void>;
}

/** Watches the process of a shop; that it ends by itself is a break. */
export function watchSeller({ seller, findings, name }: OpenShop): Watch {
  const lives: Sample[][] = [];
  const told = new Set<string>();
  const watch = {
    lives,
    last: undefined as Sample | undefined,
    async look() {
      const life = seller.lives;
      try {
        const sample = await seller.sample();
        if (sample === undefined || seller.lives !== life) return;
        watch.last = sample;
        const samples = lives[life - 1] ?? [];
        lives[life - 1] = samples;
        samples.push(sample);
        for (const leak of sample.leaks.filter((it) => !told.has(it))) {
          told.add(leak);
          findings.broke(`${name}: ${leak}`);
        }
      } catch (error) {
        findings.broke(`${name}: the seller's process is gone: ${String(error)}`);
      }
    },
  };
  return watch;
}
