import type { Chance } from './chance.js';
import type { Findings } from './findings.js';
import type { Weighted } from './troubles.js';

/** Lets things go wrong, one after the other, with health between them. */
export interface TroubleMaker {
  /** Sets right what is wrong, and begins nothing more; rejects when that is not possible. */
  rest(): Promise<void>;
  goOn(): void;
}

/** How it goes about it. */
export interface TroublePlan {
  /** Group that its troubles are counted in. */
  readonly group: string;
  readonly chance: Chance;
  readonly findings: Findings;
  /** What may go wrong, looked at each time. */
  troubles(): Weighted;
  /** Milliseconds from and to. */
  readonly health: readonly [number, number];
  readonly trouble: readonly [number, number];
}

export function makeTrouble({ group, chance, findings, troubles, health, trouble }: TroublePlan): TroubleMaker {
  let stop = new AbortController();
  let working: Promise<void> = Promise.resolve();

  async function work(signal: AbortSignal): Promise<void> {
    for (;;) {
      await wait(chance.between(...health), signal);
      const list = troubles();
      if (signal.aborted) return;
      if (list.length === 0) continue;
      const chosen = chance.weighted(list);
      findings.count(group, chosen.name);
      const end = await chosen.begin();
      await wait(chance.between(...trouble), signal);
      await end();
    }
  }

  return {
    async rest() {
      stop.abort();
      await working;
    },
    goOn() {
      stop = new AbortController();
      working = work(stop.signal);
      working.catch((error: unknown) => findings.broke(`${group}: ${String(error)}`));
    },
  };
}

/** Waits for a time, or until it is told to stop. */
export function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
}
