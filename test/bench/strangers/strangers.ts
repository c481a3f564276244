import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bs58 from 'bs58';
import { startPostgres } from '../../helpers/storage/postgres.js';
import { type BenchChain, startChain } from '../chain.js';
import { type Contestant, type Json, startContestant } from '../contestant.js';
import type { Told } from '../driver.js';
import { type BenchContext, type BenchPart, type Figure, quantile } from '../figure.js';
import { race } from '../race.js';
import { startWholeServer } from '../whole-server.js';
import { openClient } from './client.js';
import { type Neighbours, newBuyers, type Round, settleNeighbours, WEBHOOK_MS } from './honest.js';

const SLOT_MS = 50;
/** Open to strangers, whose upstreams are on this machine. */
const OPEN = { GATEWAY_OWNERS: 'open', ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' };
const PROBE_MS = 250;
const PROBE_FROM = '127.0.1.250';
const HOSTILE_OWNERS = 3;
const HOSTILE_BUYERS = 2;
const WARM_MS = 3_000;
const MAX_RATIO = 2;
const LEAST_THROUGHPUT = 0.9;

/**
 * Honest owners and buyers beside hostile ones on one service. The hostile work at one server from the first moment to the last;
 * the honest are measured in turns at a server of their own (quiet) and at the one under attack (hostile). The machine has the
 * same work in both, so the ratios say what tenants of one server take from each other, and not who gets the processor.
 */
export const strangersBench: BenchPart = {
  name: 'strangers',
  async run(context) {
    const folder = mkdtempSync(join(tmpdir(), 'tollhouse-bench-'));
    const postgres = context.quick ? undefined : await startPostgres();
    try {
      const onSqlite = await compare(context, 'SQLite', async (name) => `sqlite:${join(folder, `${name}.db`)}`);
      if (postgres === undefined) return onSqlite;
      return [...onSqlite, ...(await compare(context, 'Postgres', () => postgres.newDatabase()))];
    } finally {
      await postgres?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

interface Parties {
  readonly quiet: Neighbours;
  readonly hostile: Neighbours;
  /** The server under attack, and who attacks it. */
  readonly attacked: Contestant;
  readonly strangers: Contestant;
}

async function compare(
  context: BenchContext,
  database: string,
  newDatabase: (name: string) => Promise<string>,
): Promise<readonly Figure[]> {
  const chain = await startChain(SLOT_MS);
  const started: Contestant[] = [];
  const start = async (starting: Promise<Contestant>) => {
    const contestant = await starting;
    started.push(contestant);
    return contestant;
  };
  try {
    const upstream = (await start(startContestant('upstream'))).url;
    const buyers = await newBuyers(chain);
    const spared = await start(startWholeServer(chain, await newDatabase('quiet'), OPEN));
    const attacked = await start(startWholeServer(chain, await newDatabase('hostile'), OPEN));
    const quiet = await settleNeighbours({ chain, url: spared.url, upstream, buyers });
    const hostile = await settleNeighbours({ chain, url: attacked.url, upstream, buyers });
    const strangers = await start(startStrangers(chain, attacked.url, hostile.slugs));
    const figures = await takeTurns(context, { quiet, hostile, attacked, strangers });
    await Promise.all([quiet.close(), hostile.close()]);
    return figures.map((figure) => ({ ...figure, name: `${database}: ${figure.name}` }));
  } finally {
    await Promise.all(started.map((it) => it.stop()));
    await chain.process.stop();
  }
}

async function startStrangers(chain: BenchChain, url: string, slugs: readonly string[]): Promise<Contestant> {
  const wallets = async (count: number): Promise<Json> =>
    Promise.all(
      Array.from({ length: count }, async () => bs58.encode((await chain.wallet({ usdc: '1000' })).secretKey)),
    );
  return startContestant('hostile-strangers', {
    url,
    rpcUrl: chain.rpcUrl,
    slugs,
    blockhash: await chain.blockhash(),
    owners: await wallets(HOSTILE_OWNERS),
    buyers: await wallets(HOSTILE_BUYERS),
  });
}

/** What the strangers tell of themselves. */
interface StrangersTold extends Told {
  readonly streams: number;
  readonly stalled: number;
  readonly webhooks: number;
}

async function takeTurns({ quick, progress }: BenchContext, parties: Parties): Promise<readonly Figure[]> {
  const { quiet, hostile, attacked, strangers } = parties;
  const [rounds, forMs] = quick ? [2, 6_000] : [4, 15_000];
  await strangers.ask('start');
  const probes = probe(attacked.url);
  const measured = (name: string, neighbours: Neighbours) => async (round: number) => {
    if (round === 0) return neighbours.go(WARM_MS);
    progress(`round ${round}, ${name}`);
    const went = await neighbours.go(forMs);
    for (const bad of went.bad) progress(`not as ever: ${bad}`);
    return went;
  };
  let [begun, before, strangersBefore] = [0, 0, 0];
  const turns = { quiet: measured('quiet', quiet), hostile: measured('hostile', hostile) };
  const went = await race(turns, rounds, async (round) => {
    if (round === 1)
      [begun, before, strangersBefore] = [performance.now(), await attacked.cpu(), await strangers.cpu()];
  });
  const seconds = (performance.now() - begun) / 1_000;
  const share = (milliseconds: number) => milliseconds / 10 / seconds;
  const [server, themselves] = [(await attacked.cpu()) - before, (await strangers.cpu()) - strangersBefore];
  const told = await strangers.ask<StrangersTold>('stop');
  for (const [name, answers] of Object.entries(told.answers)) progress(`${name}: ${JSON.stringify(answers)}`);
  return [
    ...figuresOf(went.quiet, went.hostile),
    { name: 'looks at /readyz that were not answered 200', value: await probes(), unit: '', atMost: 0 },
    { name: 'hostile requests', value: told.offered / seconds, unit: '/s' },
    { name: 'hostile requests withheld, for too many were under way', value: told.withheld / seconds, unit: '/s' },
    { name: 'hostile event streams', value: told.streams, unit: '' },
    { name: 'hostile bodies that stall', value: told.stalled, unit: '' },
    { name: 'hostile webhooks that never answer', value: told.webhooks, unit: '' },
    { name: 'processor of the server under attack', value: share(server), unit: '%' },
    { name: 'processor of the strangers', value: share(themselves), unit: '%' },
  ];
}

function figuresOf(quiet: readonly Round[], hostile: readonly Round[]): readonly Figure[] {
  const rate = (rounds: readonly Round[]) =>
    rounds.reduce((sum, { times }) => sum + times.length, 0) / rounds.reduce((sum, { seconds }) => sum + seconds, 0);
  const time = (rounds: readonly Round[], share: number) =>
    quantile(
      rounds.flatMap(({ times }) => times),
      share,
    );
  const webhooks = hostile.flatMap((it) => it.webhooks);
  const ratio = (share: number) => time(hostile, share) / time(quiet, share);
  const bad = (rounds: readonly Round[]) => rounds.flatMap((it) => it.bad).length;
  return [
    {
      name: 'honest calls a second, hostile to quiet',
      value: rate(hostile) / rate(quiet),
      unit: '×',
      atLeast: LEAST_THROUGHPUT,
    },
    { name: 'median of honest calls, hostile to quiet', value: ratio(0.5), unit: '×', atMost: MAX_RATIO },
    { name: 'p95 of honest calls, hostile to quiet', value: ratio(0.95), unit: '×', atMost: MAX_RATIO },
    { name: 'honest calls that were not answered 200, hostile', value: bad(hostile), unit: '', atMost: 0 },
    { name: 'honest calls that were not answered 200, quiet', value: bad(quiet), unit: '', atMost: 0 },
    {
      name: 'honest webhooks later than five seconds',
      value: webhooks.filter((it) => it > WEBHOOK_MS).length,
      unit: '',
      atMost: 0,
    },
    { name: 'slowest honest webhook', value: Math.max(...webhooks), unit: 'ms' },
    { name: 'honest calls, quiet', value: rate(quiet), unit: '/s' },
    { name: 'median of honest calls, quiet', value: time(quiet, 0.5), unit: 'ms' },
    { name: 'p95 of honest calls, quiet', value: time(quiet, 0.95), unit: 'ms' },
  ];
}

/** Asks `/readyz` all the time; what is returned stops it, and resolves with how often it was not 200. */
function probe(url: string): () => Promise<number> {
  const client = openClient(url, PROBE_FROM);
  let isOver = false;
  let bad = 0;
  const probing = (async () => {
    while (!isOver) {
      const status = await client.ask('GET', '/readyz').then(
        (it) => it.status,
        () => 0,
      );
      if (status !== 200) bad += 1;
      await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
    }
  })();
  return async () => {
    isOver = true;
    await probing;
    await client.close();
    return bad;
  };
}
