import { type Contestant, startPart } from '../bench/contestant.js';
import type { Sample } from './sampler.js';
import type { SoakSellerSettings } from './seller.js';

/** A seller's process, which can be ended and started again on the same port and database. */
export interface SellerProcess {
  /** How often it was started. */
  readonly lives: number;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Asks it to stop; resolves when it is gone. */
  stop(): Promise<void>;
  /** Starts it; resolves when it listens. */
  start(): Promise<void>;
  /** How it is; undefined while it is not up. */
  sample(): Promise<Sample | undefined>;
}

/** Starts a seller. */
export async function startSeller(file: string, settings: SoakSellerSettings): Promise<SellerProcess> {
  const { env, payTo, price } = settings;
  let running: Contestant | undefined;

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const ending = running;
    running = undefined;
    await ending?.end(signal);
  }

  const seller = {
    lives: 0,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    async start() {
      running = await startPart(file, { env, payTo, price }, ['--expose-gc']);
      seller.lives += 1;
    },
    async sample() {
      const asked = running;
      try {
        return await asked?.ask<Sample>('sample');
      } catch (error) {
        // Whoever ended it knows of it; nobody else may have.
        if (running === asked) throw error;
        return undefined;
      }
    },
  };
  await seller.start();
  return seller;
}
