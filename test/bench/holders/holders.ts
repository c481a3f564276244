import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bs58 from 'bs58';
import { type BenchChain, startChain } from '../chain.js';
import { type Contestant, startContestant } from '../contestant.js';
import type { Told } from '../driver.js';
import { type BenchContext, type BenchPart, type Figure, quantile } from '../figure.js';
import { race } from '../race.js';
import { type Members, settleMembers, type Way } from './members.js';

const SLOT_MS = 200;
/** The first is also that of a holder. */
const ADDRESSES = Array.from({ length: 10 }, (_, at) => `127.0.2.${at + 1}`);
/** Longer than what may be looked up at once lasts, so that only what may be looked up for long is counted. */
const WARM_MS = 4_000;
const MAX_RATIO = 2;
const MAX_GROWTH = 1.5;
const LOOKS_PER_SECOND = 10;
const HOSTILE_PER_SECOND = 500;
const WAYS = ['token', 'sign-in', 'key'] as const satisfies readonly Way[];
const NAMED: Readonly<Record<Way, string>> = { token: 'an access token', 'sign-in': 'a sign-in', key: 'a service key' };

/**
 * Holders who come in while strangers send ten times what they may: sign-ins, challenges, look-ups and garbage credentials. The
 * strangers are at work at one site all the time; holders are measured in turns at a site of their own (quiet) and at that one
 * (flooded), and each site has a chain of its own, so that calls to it can be told apart.
 */
export const holdersBench: BenchPart = {
  name: 'holders',
  async run(context) {
    const folder = mkdtempSync(join(tmpdir(), 'tollhouse-bench-'));
    const started: Contestant[] = [];
    try {
      const quiet = await openSite(join(folder, 'quiet.db'), started);
      const flooded = await openSite(join(folder, 'flooded.db'), started);
      const flooder = await startContestant('sign-in-flooder', { url: flooded.server.url, addresses: ADDRESSES });
      started.push(flooder);
      return await takeTurns(context, { quiet, flooded, flooder });
    } finally {
      await Promise.all(started.map((it) => it.stop()));
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

interface Site {
  readonly chain: BenchChain;
  readonly server: Contestant;
  readonly members: Members;
}

interface Parties {
  readonly quiet: Site;
  readonly flooded: Site;
  readonly flooder: Contestant;
}

async function openSite(database: string, started: Contestant[]): Promise<Site> {
  const chain = await startChain(SLOT_MS);
  started.push(chain.process);
  const keypair = bs58.encode((await chain.wallet({ sol: '1' })).secretKey);
  const databaseUrl = `sqlite:${database}`;
  const server = await startContestant('token-site', { rpcUrl: chain.rpcUrl, keypair, databaseUrl });
  started.push(server);
  return { chain, server, members: await settleMembers(chain, server.url, ADDRESSES[0]!) };
}

interface Memory {
  /** What is alive after a collection, in bytes. */
  readonly heap: number;
  readonly rss: number;
}

/** What was spent so far. */
interface Spent {
  readonly at: number;
  readonly calls: number;
  readonly quietCalls: number;
  readonly cpu: number;
  readonly quietCpu: number;
  readonly memory: Memory;
}

async function takeTurns(context: BenchContext, { quiet, flooded, flooder }: Parties): Promise<readonly Figure[]> {
  const { quick, progress } = context;
  const [rounds, forMs] = quick ? [2, 6_000] : [4, 15_000];
  const spent = async (): Promise<Spent> => ({
    calls: await flooded.chain.calls(),
    quietCalls: await quiet.chain.calls(),
    cpu: await flooded.server.cpu(),
    quietCpu: await quiet.server.cpu(),
    memory: await flooded.server.ask<Memory>('memory'),
    at: performance.now(),
  });
  const turnAt =
    (name: string, { members }: Site) =>
    async (round: number) => {
      if (round > 0) progress(`round ${round}, ${name}`);
      const went = await members.go(round === 0 ? WARM_MS : forMs);
      for (const way of WAYS) for (const bad of went[way].bad) progress(`not as ever: ${bad}`);
      return went;
    };
  await flooder.ask('start');
  const begun = performance.now();
  let before = await spent();
  const went = await race(
    { quiet: turnAt('quiet', quiet), flooded: turnAt('flooded', flooded) },
    rounds,
    async (round) => {
      if (round === 1) before = await spent();
    },
  );
  const after = await spent();
  const told = await flooder.ask<Told>('stop');
  const perSecond = told.offered / ((after.at - begun) / 1_000);
  for (const [name, answers] of Object.entries(told.answers)) progress(`${name}: ${JSON.stringify(answers)}`);
  await Promise.all([quiet, flooded].map(({ members }) => members.close()));
  return [...figuresOf(went.quiet, went.flooded), ...costs(before, after, perSecond)];
}

type Rounds = readonly Awaited<ReturnType<Members['go']>>[];

function figuresOf(quiet: Rounds, flooded: Rounds): readonly Figure[] {
  const median = (rounds: Rounds, way: Way) =>
    quantile(
      rounds.flatMap((it) => it[way].times),
      0.5,
    );
  const refused = (rounds: Rounds) => rounds.flatMap((it) => WAYS.flatMap((way) => it[way].bad)).length;
  return [
    ...WAYS.map((way) => ({
      name: `median of holders with ${NAMED[way]}, flooded to quiet`,
      value: median(flooded, way) / median(quiet, way),
      unit: '×',
      atMost: MAX_RATIO,
    })),
    ...WAYS.map((way) => ({ name: `median with ${NAMED[way]}, quiet`, value: median(quiet, way), unit: 'ms' })),
    { name: 'holders who were refused, flooded', value: refused(flooded), unit: '', atMost: 0 },
    { name: 'holders who were refused, quiet', value: refused(quiet), unit: '', atMost: 0 },
  ];
}

function costs(before: Spent, after: Spent, perSecond: number): readonly Figure[] {
  const seconds = (after.at - before.at) / 1_000;
  const calls = (after.calls - before.calls) / seconds;
  const quietCalls = (after.quietCalls - before.quietCalls) / seconds;
  const [cpu, quietCpu] = [after.cpu - before.cpu, after.quietCpu - before.quietCpu];
  const grown = (field: keyof Memory) => after.memory[field] / before.memory[field];
  return [
    {
      name: 'RPC calls a second that the flood costs',
      value: calls - quietCalls,
      unit: '/s',
      atMost: LOOKS_PER_SECOND,
    },
    { name: 'RPC calls a second of the other site', value: quietCalls, unit: '/s' },
    { name: 'heap after the flood to before', value: grown('heap'), unit: '×', atMost: MAX_GROWTH },
    // What a collector in no hurry leaves in it says little; the heap is what must not grow.
    { name: 'memory of the process after the flood to before', value: grown('rss'), unit: '×' },
    { name: 'hostile requests', value: perSecond, unit: '/s', atLeast: HOSTILE_PER_SECOND * 0.9 },
    { name: 'processor of the flooded site', value: cpu / 10 / seconds, unit: '%' },
    { name: 'processor for a hostile request', value: (cpu - quietCpu) / seconds / perSecond, unit: 'ms' },
  ];
}
