import type { Keypair } from '@solana/web3.js';
import type { BenchChain } from '../chain.js';
import { type Contestant, startContestant } from '../contestant.js';
import { type BenchContext, type BenchPart, type Figure, quantile } from '../figure.js';
import { firstTerms, presign } from '../presigned.js';
import { type Sellers, withSellers } from '../sellers.js';
import { type Outgoing, sendAll } from '../send-all.js';
import { type Served, sendAtRate } from './open-load.js';

const SLOT_MS = 100;
/** How much longer a call to the slow node takes. */
const SLOW_MS = 1_000;
/** So many wallets pay in turns: none comes near its share of the places. */
const WALLETS = 50;
/** So many at once show what it can do: more than there are connections to a node, and fewer than places. */
const AT_ONCE = 256;
const LOADS = [1, 2, 5] as const;
/** The default. */
const PLACES = 500;
const BOUNDS = { bound: PLACES, unbound: null } as const;
type Bound = keyof typeof BOUNDS;

/**
 * Paid requests at once, twice and five times the rate that a server can do, with the bound on payments in flight and without it, on
 * a node that is well and on one that takes a second longer for each call. Who is turned away does not come again.
 */
export const overloadBench: BenchPart = {
  name: 'overload',
  run: (context) =>
    withSellers(SLOT_MS, async (sellers) => {
      const { chain } = sellers;
      const wallets = await Promise.all(Array.from({ length: WALLETS }, () => chain.wallet({ usdc: '10000' })));
      const slow = await startContestant('slow-node', { rpcUrl: chain.rpcUrl, delayMs: SLOW_MS });
      try {
        const figures: Figure[] = [];
        for (const [node, rpcUrl] of Object.entries({ quick: chain.rpcUrl, slow: slow.url })) {
          figures.push(...(await overload({ context, sellers, wallets, node, rpcUrl })));
        }
        return figures;
      } finally {
        await slow.stop();
      }
    }),
};

interface Setting {
  readonly context: BenchContext;
  readonly sellers: Sellers;
  readonly wallets: readonly Keypair[];
  /** What it is called. */
  readonly node: string;
  readonly rpcUrl: string;
}

async function overload({ context, sellers, wallets, node, rpcUrl }: Setting): Promise<readonly Figure[]> {
  const { quick, progress } = context;
  const forSeconds = quick ? 10 : 30;
  const start = (bound: Bound) => sellers.start({ kind: 'ours', rpcUrl, maxPaymentsInFlight: BOUNDS[bound] });
  const servers = { bound: await start('bound'), unbound: await start('unbound') };
  await capacityOf(sellers.chain, wallets, servers.unbound, 1);
  const capacity = await capacityOf(sellers.chain, wallets, servers.unbound, quick ? 2 : 4);
  progress(`${node} node: ${capacity.toFixed(0)} a second`);
  const figures: Figure[] = [{ name: `${node} node: what it can do`, value: capacity, unit: '/s' }];
  for (const load of LOADS) {
    for (const bound of Object.keys(BOUNDS) as Bound[]) {
      const count = Math.ceil(capacity * load * forSeconds);
      const requests = await paidRequests(sellers.chain, wallets, servers[bound], count);
      const begin = performance.now();
      const served = await sendAtRate(requests, capacity * load);
      const seconds = (performance.now() - begin) / 1_000;
      const { times, turnedAway, lost } = served;
      progress(
        `${node} node, ${load} times, ${bound}: ${times.length} served, ${turnedAway} away, ${lost} lost; 99th percentile ${quantile(times, 0.99).toFixed(0)} ms`,
      );
      figures.push(...figuresOf({ what: `${node} node, ${load} times the load, ${bound}`, served, seconds, capacity }));
    }
  }
  await Promise.all(Object.values(servers).map((it) => it.stop()));
  return figures;
}

interface Lap {
  readonly what: string;
  readonly served: Served;
  readonly seconds: number;
  readonly capacity: number;
}

function figuresOf({ what, served, seconds, capacity }: Lap): readonly Figure[] {
  const { times, turnedAway, lost } = served;
  const all = times.length + turnedAway + lost;
  return [
    { name: `${what}: served, to what it can do`, value: times.length / seconds / capacity, unit: '×' },
    { name: `${what}: 99th percentile of what was served`, value: quantile(times, 0.99), unit: 'ms' },
    { name: `${what}: neither served nor told to come again`, value: lost / all, unit: '×' },
  ];
}

/** Payments a second, many at once. */
async function capacityOf(
  chain: BenchChain,
  wallets: readonly Keypair[],
  server: Contestant,
  rounds: number,
): Promise<number> {
  const requests = await paidRequests(chain, wallets, server, rounds * AT_ONCE);
  const begin = performance.now();
  await sendAll(requests, AT_ONCE);
  return (requests.length / (performance.now() - begin)) * 1_000;
}

async function paidRequests(
  chain: BenchChain,
  wallets: readonly Keypair[],
  { url: origin }: Contestant,
  count: number,
): Promise<readonly Outgoing[]> {
  const url = `${origin}/report`;
  const [accepted, blockhash] = [await firstTerms(url), await chain.blockhash()];
  const each = wallets.map((payer) =>
    presign({ payer, accepted, blockhash, count: Math.ceil(count / wallets.length) }).map(({ v2 }) => v2),
  );
  return Array.from({ length: count }, (_, at) => ({
    url,
    headers: each[at % wallets.length]?.[Math.floor(at / wallets.length)] ?? {},
  }));
}
