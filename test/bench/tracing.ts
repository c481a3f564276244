import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { inSpan, loadTracing } from '../../src/telemetry/trace.js';
import { type BenchPart, quantile } from './figure.js';
import { race } from './race.js';

/** A paid request has fewer spans, and does more than this. */
const SPANS = 10;
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const MESSAGE = Buffer.alloc(1_000, 7);
const SIGNATURE = sign(null, MESSAGE, privateKey);
/** Nothing is looked up less often than this. */
const LOADED_MS = 1_000;

/** What spans cost whoever does not trace: a check of a signature, the least that a payment costs, by itself and within ten spans. */
export const tracingBench: BenchPart = {
  name: 'tracing',
  async run({ quick, progress }) {
    const [count, rounds] = quick ? [1_000, 9] : [5_000, 21];
    const check = (): boolean => verify(null, MESSAGE, publicKey, SIGNATURE);
    const timed = (work: () => boolean) => async () => {
      const begun = process.cpuUsage();
      for (let n = 0; n < count; n += 1) work();
      const { user, system } = process.cpuUsage(begun);
      return (user + system) / count;
    };
    const ratio = async (what: string): Promise<number> => {
      const laps = await race({ alone: timed(check), traced: timed(() => within(SPANS, check)) }, rounds, (round) =>
        progress(`${what}, round ${round}`),
      );
      // What else happens on the machine adds to a lap and takes nothing from it.
      return quantile(laps.traced, 0.25) / quantile(laps.alone, 0.25);
    };
    // Before it was asked for, as where it is not installed, there is none.
    const without = await ratio('without the package');
    loadTracing();
    await pause(LOADED_MS);
    const unregistered = await ratio('without an SDK');
    return [
      { name: 'ten spans around a check of a signature, without the package', value: without, unit: '×', atMost: 1.03 },
      { name: 'the same with the package and no SDK', value: unregistered, unit: '×', atMost: 1.05 },
    ];
  },
};

function within(spans: number, work: () => boolean): boolean {
  return spans === 0 ? work() : inSpan('bench', { 'tollhouse.route': '/paid' }, () => within(spans - 1, work));
}
