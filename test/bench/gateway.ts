import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { startPostgres } from '../helpers/storage/postgres.js';
import { type BenchChain, startChain } from './chain.js';
import { type Contestant, startContestant } from './contestant.js';
import { type DirectPayments, openDirectPayments } from './direct-payments.js';
import { type BenchContext, type BenchPart, type Figure, quantile } from './figure.js';
import { cpuRatio, type Lap, measured, medianOf, type Runner, race } from './race.js';
import { inParallel, type Outgoing, sendAll } from './send-all.js';

const PRICE = '0.01';
const PRICE_ATOMIC = 10_000n;
const PATH = '/v1/bench-api/report';
const PASS_PATH = '/v1/bench-passes/report';
const AT_ONCE = 10;
/** So many laps are sent before the first that counts. */
const WARM_LAPS = 5;

/** Characters of a signature as a proof of payment. */
const PROOF_LENGTH = 120;

/** What a call must be worth at most, in processor time of a bare proxy. */
const MOST_PAID = 5;
const MOST_ON_PASS = 2.5;
/** With what is done from time to time, such as looking for events to deliver. */
const MOST_TRIPS = 2.25;

/**
 * Calls of an API behind the gateway, each with a key and a payment of its own that has landed, and calls that a pass covers, beside a
 * bare proxy made of Express and undici to the same API. All are sent by the same client, as many and as many at once, with headers of the
 * same length: the closer calls come, the less each of them takes of a processor.
 */
export const gatewayBench: BenchPart = {
  name: 'gateway',
  async run(context) {
    const folder = mkdtempSync(join(tmpdir(), 'tollhouse-bench-'));
    const postgres = await startPostgres();
    const chain = await startChain();
    const fixture = await openFixture(chain);
    try {
      const sqlite = await fixture.seller(`sqlite:${join(folder, 'bench.db')}`);
      const onPostgres = await fixture.seller(await postgres.newDatabase());
      return await compare(context, fixture, { SQLite: sqlite, Postgres: onPostgres });
    } finally {
      await fixture.close();
      await chain.process.stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

type Databases = Readonly<Record<'SQLite' | 'Postgres', Contestant>>;

/** What both databases share. */
interface Fixture {
  readonly chain: BenchChain;
  readonly bare: Contestant;
  readonly payments: DirectPayments;
  seller(database: string): Promise<Contestant>;
  close(): Promise<void>;
}

async function openFixture(chain: BenchChain): Promise<Fixture> {
  const upstream = await startContestant('upstream');
  const bare = await startContestant('bare-proxy', { upstream: upstream.url });
  const caller = await chain.wallet({ sol: '100', usdc: '1000000' });
  const owner = addressOf(await chain.wallet({ usdc: '0', usdt: '0', pyusd: '0' }));
  const payments = await openDirectPayments(chain, caller, owner, PRICE_ATOMIC);
  const started = [upstream, bare];
  return {
    chain,
    bare,
    payments,
    async seller(database) {
      const seller = await startContestant('gateway-seller', {
        rpcUrl: chain.rpcUrl,
        wsUrl: chain.wsUrl,
        keypair: bs58.encode((await chain.wallet({ sol: '10' })).secretKey),
        database,
        upstream: upstream.url,
        owner,
        caller: addressOf(caller),
        price: PRICE,
      });
      started.push(seller);
      return seller;
    },
    async close() {
      payments.close();
      await Promise.all(started.map((it) => it.stop()));
    },
  };
}

async function compare(
  { quick, progress }: BenchContext,
  fixture: Fixture,
  sellers: Databases,
): Promise<readonly Figure[]> {
  const count = quick ? 100 : 400;
  const names = ['SQLite', 'Postgres'] as const;
  const watched = {
    SQLite: await watch(fixture, sellers.SQLite, count),
    Postgres: await watch(fixture, sellers.Postgres, count),
  };
  const key = await sellers.SQLite.ask<Readonly<Record<string, string>>>('key');
  const runners = {
    bare: called(fixture.bare, PATH, { ...key, 'x-service-payment': 'x'.repeat(PROOF_LENGTH) }, count),
    SQLite: watched.SQLite.runner,
    Postgres: watched.Postgres.runner,
    SQLitePass: await onPass(sellers.SQLite, count),
    PostgresPass: await onPass(sellers.Postgres, count),
  };
  const laps = await race(runners, quick ? 3 : 7, (round) => progress(`round ${round}`));
  const toBare = 'processor time to a bare proxy';
  const figures = names.flatMap((name) => [
    { name: `${name}: ${toBare}`, value: cpuRatio(laps[name], laps.bare), unit: '×', atMost: MOST_PAID },
    {
      name: `${name}: a call on a pass, ${toBare}`,
      value: cpuRatio(laps[`${name}Pass`], laps.bare),
      unit: '×',
      atMost: MOST_ON_PASS,
    },
    { name: `${name}: RPC calls a call`, value: quantile(watched[name].calls, 0.5), unit: 'calls', atMost: 1.05 },
    {
      name: `${name}: round trips to the database a call`,
      value: quantile(watched[name].trips, 0.5),
      unit: 'trips',
      atMost: MOST_TRIPS,
    },
    { name: `${name}: processor time a call`, value: medianOf(laps[name], 'cpuMs'), unit: 'ms' },
  ]);
  return [...figures, { name: 'bare proxy: processor time a call', value: medianOf(laps.bare, 'cpuMs'), unit: 'ms' }];
}

/** Sends the same request again and again. */
function called(contestant: Contestant, path: string, headers: Outgoing['headers'], count: number): Runner {
  return (round) =>
    measured(contestant, async () => {
      const amount = round === 0 ? count * WARM_LAPS : count;
      return (await sendAll(Array<Outgoing>(amount).fill({ url: contestant.url + path, headers }), AT_ONCE)).length;
    });
}

/** Sends calls that one pass covers. */
async function onPass(seller: Contestant, count: number): Promise<Runner> {
  const token = await seller.ask<string>('pass');
  const key = await seller.ask<Readonly<Record<string, string>>>('key');
  return called(seller, PASS_PATH, { ...key, 'access-pass': token }, count);
}

/** Pays for each call of a lap before its clock starts. */
async function watch({ chain, payments }: Fixture, seller: Contestant, count: number) {
  const url = seller.url + PATH;
  const key = await seller.ask<Readonly<Record<string, string>>>('key');
  const memo = await seller.ask<string>('memo');
  const [calls, trips]: [number[], number[]] = [[], []];
  async function runner(round: number): Promise<Lap> {
    const payingOnes = Array(round === 0 ? count * WARM_LAPS : count).fill(undefined);
    const signatures = await inParallel(payingOnes, AT_ONCE, () => payments.pay(memo));
    const requests = signatures.map((signature) => ({
      url,
      headers: { ...key, 'x-service-payment': Buffer.from(signature).toString('base64') },
    }));
    const [called, gone] = [await chain.calls(), await seller.ask<number>('trips')];
    const lap = await measured(seller, async () => (await sendAll(requests, AT_ONCE)).length);
    if (round > 0) {
      calls.push(((await chain.calls()) - called) / count);
      trips.push(((await seller.ask<number>('trips')) - gone) / count);
    }
    return lap;
  }
  return { runner, calls, trips };
}

function addressOf({ publicKey }: Keypair): string {
  return publicKey.toBase58();
}
