import autocannon from 'autocannon';
import type { Contestant } from './contestant.js';
import { quantile } from './figure.js';

/** One round of one contestant. */
export interface Lap {
  /** Processor time of the server's process, milliseconds for each request. */
  readonly cpuMs: number;
  /** Requests a second as the clock on the wall saw them. */
  readonly perSecond: number;
}

/** Who runs a lap, told the number of the round; 0 is the one that does not count. */
export type Runner<Result = Lap> = (round: number) => Promise<Result>;

/** What is sent again and again to a contestant. */
export interface Shot {
  readonly path: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const CONNECTIONS = 10;

/**
 * Runs laps in turns, so that what else happens on the machine hits all of them alike. Each round begins with another one: were the order
 * turned around, the first and the last would run twice in a row, on warm caches, and those between them never. One more round comes
 * first and does not count.
 * @param onRound - called before each round that counts
 */
export async function race<Name extends string, Result = Lap>(
  runners: Readonly<Record<Name, Runner<Result>>>,
  rounds: number,
  onRound: (round: number) => void | Promise<void>,
): Promise<Readonly<Record<Name, readonly Result[]>>> {
  const names = Object.keys(runners) as Name[];
  const laps = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 0; round <= rounds; round += 1) {
    if (round > 0) await onRound(round);
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const lap = await runners[name](round);
      if (round > 0) laps[name].push(lap);
    }
  }
  return laps;
}

/** So often autocannon looks whether it is done. */
const SAMPLE_MS = 50;

/** Sends the same request many times. Rejects when a response has another status than it must. */
export function cannon(contestant: Contestant, { path, status, headers = {} }: Shot, amount: number): Runner {
  return (round) =>
    measured(contestant, async () => {
      const count = round === 0 ? Math.ceil(amount / 4) : amount;
      const url = contestant.url + path;
      const result = await autocannon({ url, amount: count, connections: CONNECTIONS, headers, sampleInt: SAMPLE_MS });
      const good = result.statusCodeStats[status]?.count ?? 0;
      if (good < count) {
        throw new Error(`${url}: ${good} of ${count} were ${status}: ${JSON.stringify(result.statusCodeStats)}`);
      }
      return count;
    });
}

/** After so many requests the code of a server is compiled. */
const WARM_UP = 5_000;

/**
 * The same at several processes, a round at each in turn: two processes of the very same code differ by up to a tenth for as long as
 * they live.
 */
export function inTurns(contestants: readonly Contestant[], shot: Shot, amount: number): Runner {
  const runners = contestants.map((it) => cannon(it, shot, amount));
  return async (round) => {
    if (round === 0) for (const it of contestants) await cannon(it, shot, WARM_UP)(1);
    const run = runners[round % runners.length];
    if (run === undefined) throw new Error('there is nobody to run');
    return run(round);
  };
}

/** Processor time and clock of some work at a contestant; the work answers how many requests it was. */
export async function measured(contestant: Contestant, work: () => Promise<number>): Promise<Lap> {
  const [cpu, begin] = [await contestant.cpu(), performance.now()];
  const requests = await work();
  const [spent, elapsed] = [(await contestant.cpu()) - cpu, performance.now() - begin];
  return { cpuMs: spent / requests, perSecond: (requests / elapsed) * 1000 };
}

/** Median over the rounds of how much processor time one takes for each of the other's. */
export function cpuRatio(one: readonly Lap[], other: readonly Lap[]): number {
  return quantile(
    one.map(({ cpuMs }, round) => cpuMs / (other[round]?.cpuMs ?? Number.NaN)),
    0.5,
  );
}

/** Median of one field over the rounds. */
export function medianOf(laps: readonly Lap[], field: keyof Lap): number {
  return quantile(
    laps.map((lap) => lap[field]),
    0.5,
  );
}
