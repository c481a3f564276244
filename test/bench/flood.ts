import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchChain, startChain } from './chain.js';
import { type Contestant, type Json, startContestant } from './contestant.js';
import { type BenchContext, type BenchPart, type Figure, quantile } from './figure.js';
import { firstTerms, presign } from './presigned.js';
import { startWholeServer } from './whole-server.js';

const SLOT_MS = 100;
const FLOOD_PER_SECOND = 10_000;
const FLOOD_FROM = '127.0.0.2';
const FLOOD_CONNECTIONS = 200;
/** Honest callers are many, so that none comes near the limits of an address; the first is 127.0.1.1. */
const CALLERS = 40;
/** Between two requests of all callers together. */
const PACE_MS = 100;
const MIB = 1024 * 1024;

/** A server that has just been started has everything before it that makes requests slow. */
const WARM_MS = 2_000;
const MAX_RATIO = 2;
/** What a server takes for hundreds of requests a second, and a collector that is in no hurry. */
const MAX_GROWTH_MIB = 200;

interface Plan {
  readonly rounds: number;
  readonly quietMs: number;
  readonly floodMs: number;
}

const QUICK: Plan = { rounds: 2, quietMs: 1_500, floodMs: 3_000 };
const FULL: Plan = { rounds: 2, quietMs: 15_000, floodMs: 60_000 };

/** What honest callers do, in turns. */
const KINDS = ['free', 'unpaid', 'paid'] as const;
type Kind = (typeof KINDS)[number];
type Times = Readonly<Record<Kind, readonly number[]>>;

const PATHS = { free: '/health', unpaid: '/demo', paid: '/demo' } as const;
const STATUSES = { free: 200, unpaid: 402, paid: 200 } as const;

/**
 * Ten thousand hostile requests a second from one address, while others go on as before: how much longer they wait, as the
 * ratio of the medians under flood and before and after it, and what memory it takes. The flooder, the server, the chain and
 * the callers are processes of one machine: with few cores the flooder's own work slows the callers down as well, which
 * no server can help.
 */
export const floodBench: BenchPart = {
  name: 'flood',
  async run(context) {
    const folder = mkdtempSync(join(tmpdir(), 'tollhouse-bench-'));
    const chain = await startChain(SLOT_MS);
    const payTo = (await chain.wallet({ usdc: '0', usdt: '0', pyusd: '0' })).publicKey.toBase58();
    const server = await startWholeServer(chain, `sqlite:${join(folder, 'flood.db')}`, { PAY_TO: payTo });
    try {
      return await measure(context, chain, server);
    } finally {
      await server.stop();
      await chain.process.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function measure(context: BenchContext, chain: BenchChain, server: Contestant): Promise<readonly Figure[]> {
  const plan = context.quick ? QUICK : FULL;
  const requests = ((plan.quietMs + plan.floodMs) * plan.rounds + plan.quietMs + WARM_MS) / PACE_MS;
  const callers = await openCallers(chain, server.url, Math.ceil(requests / KINDS.length) + KINDS.length);
  const flooder = await startContestant('flooder', {
    url: server.url,
    from: FLOOD_FROM,
    perSecond: FLOOD_PER_SECOND,
    connections: FLOOD_CONNECTIONS,
    payments: callers.spoilt,
  });
  try {
    await callers.go(WARM_MS);
    return figuresOf(await takeTurns(context, plan, { callers, flooder, server }));
  } finally {
    callers.close();
    await flooder.stop();
  }
}

interface Turns {
  readonly quiet: readonly Went[];
  readonly flooded: readonly Went[];
  /** Of all floods together. */
  readonly floodSeconds: number;
  readonly serverMs: number;
  readonly flooderMs: number;
  readonly grownBytes: number;
  readonly counts: Readonly<Record<string, number>>;
}

interface Parties {
  readonly callers: Callers;
  readonly flooder: Contestant;
  readonly server: Contestant;
}

/** Quiet and flood in turns, so that what else happens on the machine hits both alike. */
async function takeTurns(
  { progress }: BenchContext,
  { rounds, quietMs, floodMs }: Plan,
  { callers, flooder, server }: Parties,
): Promise<Turns> {
  const [quiet, flooded]: [Went[], Went[]] = [[], []];
  const memory = await server.ask<number>('memory');
  let [floodSeconds, serverMs, flooderMs, counts] = [0, 0, 0, {}];
  for (let round = 1; round <= rounds; round += 1) {
    progress(`round ${round}`);
    quiet.push(await callers.go(quietMs));
    const [before, flooderBefore, begun] = [await server.cpu(), await flooder.cpu(), performance.now()];
    await flooder.ask('start');
    flooded.push(await callers.go(floodMs));
    floodSeconds += (performance.now() - begun) / 1_000;
    serverMs += (await server.cpu()) - before;
    flooderMs += (await flooder.cpu()) - flooderBefore;
    counts = await flooder.ask('stop');
    for (const it of [...quiet, ...flooded].flatMap(({ bad }) => bad)) progress(`not as ever: ${it}`);
  }
  const grownBytes = (await server.ask<number>('memory')) - memory;
  quiet.push(await callers.go(quietMs));
  return { quiet, flooded, floodSeconds, serverMs, flooderMs, grownBytes, counts };
}

function figuresOf(turns: Turns): readonly Figure[] {
  const { quiet, flooded, floodSeconds, serverMs, flooderMs, grownBytes, counts } = turns;
  const median = (all: readonly Went[], kind: Kind): number =>
    quantile(
      all.flatMap(({ times }) => times[kind]),
      0.5,
    );
  const bad = [...quiet, ...flooded].flatMap((it) => it.bad);
  const perSecond = (name: string): number => (counts[name] ?? 0) / floodSeconds;
  const share = (milliseconds: number): number => milliseconds / 10 / floodSeconds;
  const others = 'of other callers under flood to quiet';
  return [
    ...KINDS.map((kind) => {
      const value = median(flooded, kind) / median(quiet, kind);
      return { name: `median of ${kind} requests ${others}`, value, unit: '×', atMost: MAX_RATIO };
    }),
    ...KINDS.map((kind) => ({ name: `median of ${kind} requests, quiet`, value: median(quiet, kind), unit: 'ms' })),
    { name: 'requests of other callers that were not answered as ever', value: bad.length, unit: '', atMost: 0 },
    { name: 'memory that the server grew by', value: grownBytes / MIB, unit: 'MiB', atMost: MAX_GROWTH_MIB },
    { name: 'hostile requests', value: perSecond('offered'), unit: '/s', atLeast: FLOOD_PER_SECOND * 0.9 },
    { name: 'hostile connections', value: perSecond('connections'), unit: '/s' },
    { name: 'processor of the server under flood', value: share(serverMs), unit: '%' },
    { name: 'processor of the flooder', value: share(flooderMs), unit: '%' },
  ];
}

interface Went {
  readonly times: Times;
  /** What became of requests that were not answered, or otherwise than they must be. */
  readonly bad: readonly string[];
}

interface Callers {
  /** Payments that are good for nothing, though they look it. */
  readonly spoilt: readonly Json[];
  go(forMs: number): Promise<Went>;
  close(): void;
}

/** Callers from addresses of their own, and payments that are good for one request each. */
async function openCallers(chain: BenchChain, url: string, payments: number): Promise<Callers> {
  const payer = await chain.wallet({ usdc: '100000' });
  const order = { payer, accepted: await firstTerms(`${url}/demo`), blockhash: await chain.blockhash() };
  const signed = presign({ ...order, count: payments }).map(({ v2 }) => v2);
  const agents = Array.from({ length: CALLERS }, (_, at) => ({
    agent: new Agent({ keepAlive: true }),
    localAddress: `127.0.1.${at + 1}`,
  }));
  let turn = 0;

  async function once(times: Record<Kind, number[]>): Promise<string | undefined> {
    const kind = KINDS[turn % KINDS.length] ?? 'free';
    const from = agents[turn % agents.length];
    turn += 1;
    const headers = kind === 'paid' ? (signed.pop() ?? {}) : {};
    const begun = performance.now();
    const status = await get(url + PATHS[kind], { ...from, headers }).catch(String);
    times[kind].push(performance.now() - begun);
    return status === STATUSES[kind] ? undefined : `${kind}: ${status}`;
  }

  return {
    spoilt: presign({ ...order, count: 5 }).map(({ v2 }) => spoil(v2)),
    async go(forMs: number): Promise<Went> {
      const times: Record<Kind, number[]> = { free: [], unpaid: [], paid: [] };
      const all: Promise<string | undefined>[] = [];
      for (let at = 0; at < forMs / PACE_MS; at += 1) {
        all.push(once(times));
        await new Promise((resolve) => setTimeout(resolve, PACE_MS));
      }
      const bad = (await Promise.all(all)).filter((it) => it !== undefined);
      return { times, bad };
    },
    close() {
      for (const { agent } of agents) agent.destroy();
    },
  };
}

function get(url: string, options: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', reject).end();
  });
}

/** A payment whose signature is wrong: everything has to be read before that is known. */
function spoil(headers: Readonly<Record<string, string>>): Json {
  const changed = Object.entries(headers).map(([name, value]) => {
    const payload = JSON.parse(Buffer.from(value, 'base64').toString());
    const transaction = Buffer.from(payload.payload.transaction, 'base64');
    transaction[100] = (transaction[100] ?? 0) ^ 1;
    const spoilt = { ...payload, payload: { transaction: transaction.toString('base64') } };
    return [name, Buffer.from(JSON.stringify(spoilt)).toString('base64')];
  });
  return Object.fromEntries(changed);
}
