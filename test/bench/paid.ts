import type { Contestant } from './contestant.js';
import { openDirectPayments } from './direct-payments.js';
import { type BenchContext, type BenchPart, type Figure, quantile } from './figure.js';
import { firstTerms, presign } from './presigned.js';
import { cpuRatio, type Lap, measured, medianOf, type Runner, race } from './race.js';
import { type Sellers, withSellers } from './sellers.js';
import { send, sendAll, sendSpread } from './send-all.js';

const SLOT_MS = 50;

/** One contestant's laps, and what else was seen in them. */
interface Watched {
  readonly runner: Runner;
  /** JSON-RPC calls for each request, a round each. */
  readonly calls: number[];
  /** In milliseconds, all rounds. */
  readonly times: number[];
}

/**
 * Paid requests, settled on the chain, beside the official middleware and facilitator in one process: calls to the chain,
 * processor time of the server, throughput, and what is added to the time that the chain itself takes.
 */
export const paidBench: BenchPart = {
  name: 'paid',
  run: (context) =>
    withSellers(SLOT_MS, async (sellers) => {
      const contestants = {
        ours: await sellers.start({ kind: 'ours' }),
        before: await sellers.start({ kind: 'ours', settle: 'before' }),
        reference: await sellers.start({ kind: 'reference' }),
      };
      const figures = [...(await alone(context, sellers, contestants))];
      const crowds = context.quick ? [16] : [16, 64, 256];
      for (const atOnce of crowds) figures.push(...(await together(context, sellers, contestants, atOnce)));
      return figures;
    }),
};

type Contestants = Readonly<Record<'ours' | 'before' | 'reference', Contestant>>;

/** One request at a time, at any moment of a slot. */
async function alone(
  { quick, progress }: BenchContext,
  sellers: Sellers,
  { ours, before, reference }: Contestants,
): Promise<readonly Figure[]> {
  const [count, rounds] = quick ? [10, 3] : [25, 7];
  const spread = (contestant: Contestant) => watch(sellers, contestant, count, (all) => sendSpread(all, SLOT_MS, send));
  const watched = { ours: spread(ours), before: spread(before), reference: spread(reference) };
  const chainTimes = await chainItself(sellers, count);
  const runners = {
    ours: watched.ours.runner,
    before: watched.before.runner,
    reference: watched.reference.runner,
    chain: chainTimes.runner,
  };
  const laps = await race(runners, rounds, (round) => progress(`1 at once, round ${round}`));
  await chainTimes.close();
  const chain = quantile(chainTimes.times, 0.5);
  const added = (name: 'ours' | 'before' | 'reference') => quantile(watched[name].times, 0.5) - chain;
  return [
    ...commonFigures('1 at once', laps, watched, 2.1),
    { name: '1 at once: added to the time of the chain', value: added('ours'), unit: 'ms', atMost: 25 },
    { name: '1 at once: added by settling before', value: added('before'), unit: 'ms' },
    { name: '1 at once: added by the reference', value: added('reference'), unit: 'ms' },
    { name: 'a payment on the chain by itself', value: chain, unit: 'ms' },
  ];
}

/** Many requests at a time. */
async function together(
  { quick, progress }: BenchContext,
  sellers: Sellers,
  { ours, before, reference }: Contestants,
  atOnce: number,
): Promise<readonly Figure[]> {
  const rounds = quick ? 3 : 7;
  const count = atOnce * (quick ? 3 : 4);
  const crowd = (contestant: Contestant) => watch(sellers, contestant, count, (all) => sendAll(all, atOnce));
  const watched = { ours: crowd(ours), before: crowd(before), reference: crowd(reference) };
  const runners = {
    ours: watched.ours.runner,
    before: watched.before.runner,
    reference: watched.reference.runner,
  };
  const laps = await race(runners, rounds, (round) => progress(`${atOnce} at once, round ${round}`));
  const speeds = laps.ours.map(({ perSecond }, round) => perSecond / (laps.reference[round]?.perSecond ?? Number.NaN));
  const least = atOnce >= 256 ? { atLeast: 2.5 } : {};
  return [
    ...commonFigures(`${atOnce} at once`, laps, watched, 2.05),
    {
      name: `${atOnce} at once: requests a second to the reference`,
      value: quantile(speeds, 0.5),
      unit: '×',
      ...least,
    },
    { name: `${atOnce} at once: requests`, value: medianOf(laps.ours, 'perSecond'), unit: '/s' },
  ];
}

function commonFigures(
  where: string,
  laps: Readonly<Record<'ours' | 'reference', readonly Lap[]>>,
  watched: Readonly<Record<'ours' | 'before' | 'reference', Watched>>,
  mostCalls: number,
): readonly Figure[] {
  const calls = (name: 'ours' | 'before' | 'reference') => quantile(watched[name].calls, 0.5);
  const cpu = cpuRatio(laps.ours, laps.reference);
  return [
    { name: `${where}: processor time to the reference`, value: cpu, unit: '×', atMost: 0.35 },
    { name: `${where}: RPC calls a request`, value: calls('ours'), unit: 'calls', atMost: mostCalls },
    { name: `${where}: RPC calls a request, settled before`, value: calls('before'), unit: 'calls', atMost: 1.1 },
    { name: `${where}: RPC calls a request, reference`, value: calls('reference'), unit: 'calls' },
    { name: `${where}: processor time a request`, value: medianOf(laps.ours, 'cpuMs'), unit: 'ms' },
  ];
}

type Outgoings = Parameters<typeof sendAll>[0];

/** Pays for each request of a lap before its clock starts. */
function watch(
  { chain, payer }: Sellers,
  contestant: Contestant,
  count: number,
  sendThem: (all: Outgoings) => Promise<readonly number[]>,
): Watched {
  const url = `${contestant.url}/report`;
  const [calls, times]: [number[], number[]] = [[], []];
  async function runner(round: number): Promise<Lap> {
    const [accepted, blockhash] = [await firstTerms(url), await chain.blockhash()];
    const payments = presign({ payer, accepted, blockhash, count });
    const requests = payments.map(({ v2 }) => ({ url, headers: v2 }));
    const before = await chain.calls();
    const lap = await measured(contestant, async () => {
      const took = await sendThem(requests);
      if (round > 0) times.push(...took);
      return took.length;
    });
    if (round > 0) calls.push(((await chain.calls()) - before) / count);
    return lap;
  }
  return { runner, calls, times };
}

/** Payments that nobody takes part in but a wallet and the chain. */
async function chainItself({ chain }: Sellers, count: number) {
  const wallet = await chain.wallet({ sol: '10', usdc: '1000' });
  const payTo = (await chain.wallet({ usdc: '0' })).publicKey.toBase58();
  const direct = await openDirectPayments(chain, wallet, payTo);
  const times: number[] = [];
  async function runner(round: number): Promise<Lap> {
    return measured(chain.process, async () => {
      const took = await sendSpread(Array(count).fill(undefined), SLOT_MS, () => direct.pay());
      if (round > 0) times.push(...took);
      return count;
    });
  }
  return { runner, times, close: async () => direct.close() };
}
