import type { Contestant, Json } from './contestant.js';
import type { BenchContext, BenchPart, Figure } from './figure.js';
import { cpuRatio, inTurns, medianOf, race } from './race.js';
import { type SellerChoice, withSellers } from './sellers.js';

const SLOT_MS = 200;
/** Of each kind. No multiple of the kinds that race: each process has every place in a round. */
const PROCESSES = 5;
const PRICED = { path: '/report', status: 402 };
const FREE = { path: '/free', status: 200 };

/**
 * What a gate costs those who have not paid, and a mounted service the routes behind it, in processor time of the server:
 * beside a bare Express route that answers the same body, and the official middleware.
 */
export const unpaidBench: BenchPart = {
  name: 'unpaid',
  run: (context) =>
    withSellers(SLOT_MS, async ({ start }) => {
      const several = (choice: SellerChoice) => Promise.all(Array.from({ length: PROCESSES }, () => start(choice)));
      const ours = await several({ kind: 'ours' });
      const unpaidBody = (await (await fetch(`${ours[0]?.url}/report`)).json()) as Json;
      const bare = await several({ kind: 'bare', unpaidBody });
      const reference = await several({ kind: 'reference' });
      const mounted = await several({ kind: 'ours', mounted: true });
      return [...(await refusals(context, { ours, bare, reference })), ...(await passing(context, { mounted, bare }))];
    }),
};

type Processes = readonly Contestant[];

async function refusals(
  { quick, progress }: BenchContext,
  { ours, bare, reference }: Readonly<Record<'ours' | 'bare' | 'reference', Processes>>,
): Promise<readonly Figure[]> {
  const amount = quick ? 1_000 : 2_500;
  const runners = {
    bare: inTurns(bare, PRICED, amount),
    ours: inTurns(ours, PRICED, amount),
    reference: inTurns(reference, PRICED, amount / 4),
  };
  const laps = await race(runners, quick ? 15 : 50, (round) => progress(`402, round ${round}`));
  return [
    { name: '402s of ours for each of a bare route', value: cpuRatio(laps.bare, laps.ours), unit: '×', atLeast: 0.95 },
    { name: '402s of the reference for each of a bare route', value: cpuRatio(laps.bare, laps.reference), unit: '×' },
    { name: '402 of ours, processor', value: medianOf(laps.ours, 'cpuMs') * 1000, unit: 'µs' },
    { name: '402 of a bare route, processor', value: medianOf(laps.bare, 'cpuMs') * 1000, unit: 'µs' },
    { name: '402s of ours', value: medianOf(laps.ours, 'perSecond'), unit: '/s' },
    { name: '402s of the reference', value: medianOf(laps.reference, 'perSecond'), unit: '/s' },
  ];
}

async function passing(
  { quick, progress }: BenchContext,
  { mounted, bare }: Readonly<Record<'mounted' | 'bare', Processes>>,
): Promise<readonly Figure[]> {
  const amount = quick ? 1_000 : 2_500;
  const runners = { bare: inTurns(bare, FREE, amount), mounted: inTurns(mounted, FREE, amount) };
  const laps = await race(runners, quick ? 15 : 50, (round) => progress(`free route, round ${round}`));
  const name = 'free answers behind the mounted service for each of a bare app';
  return [
    { name, value: cpuRatio(laps.bare, laps.mounted), unit: '×', atLeast: 0.97 },
    {
      name: 'free answer behind the mounted service, processor',
      value: medianOf(laps.mounted, 'cpuMs') * 1000,
      unit: 'µs',
    },
  ];
}
