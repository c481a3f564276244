const ROUNDS = 7;

/**
 * How many times longer some work takes than other work: the least that several attempts say, by the clock and by the processor's time.
 * Whatever else the machine does, and the collection of garbage, can only make it look worse.
 */
export function timesLonger(long: () => unknown, short: () => unknown, isEnough: (times: number) => boolean): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5 && !isEnough(least); attempt += 1) {
    const [longer, shorter] = [leastTimes(long), leastTimes(short)];
    least = Math.min(least, longer.wall / shorter.wall, shorter.cpu > 0 ? longer.cpu / shorter.cpu : least);
  }
  return least;
}

function leastTimes(work: () => unknown): { readonly wall: number; readonly cpu: number } {
  const least = { wall: Number.POSITIVE_INFINITY, cpu: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round += 1) {
    const [begun, before] = [performance.now(), process.cpuUsage()];
    work();
    const { user, system } = process.cpuUsage(before);
    least.wall = Math.min(least.wall, performance.now() - begun);
    least.cpu = Math.min(least.cpu, (user + system) / 1_000);
  }
  return least;
}
