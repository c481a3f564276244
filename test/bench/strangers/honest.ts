import type { Keypair } from '@solana/web3.js';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { BenchChain } from '../chain.js';
import { atPace, pause, type Went } from '../pace.js';
import { presign } from '../presigned.js';
import { type Client, type Fields, openClient, termsOf } from './client.js';
import { receive } from './receiver.js';

/** Buyers, each a wallet with a key and an address of its own, and the owners whose projects they call in turns. */
const BUYERS = 20;
const OWNERS = 2;
/** Each buyer begins a call so often, if its last one is over. */
const PACE_MS = 1_000;
/** What is slower than this counts as not delivered in time. */
export const WEBHOOK_MS = 5_000;
const LEAST_WAIT_MS = 10_000;
const FUNDS = { usdc: '100000' };

/** What one round of honest calls came to. */
export interface Round {
  readonly seconds: number;
  /** Of each call that was answered 200, in milliseconds. */
  readonly times: readonly number[];
  /** What became of the others. */
  readonly bad: readonly string[];
  /** From the event to its arrival, in milliseconds; infinite where it did not come in time. */
  readonly webhooks: readonly number[];
}

/** The honest owners and buyers of one server. */
export interface Neighbours {
  /** Slugs of the projects of the owners. */
  readonly slugs: readonly string[];
  go(forMs: number): Promise<Round>;
  close(): Promise<void>;
}

/** What they live on. */
export interface Surroundings {
  readonly chain: BenchChain;
  readonly url: string;
  readonly upstream: string;
  readonly buyers: readonly Keypair[];
}

/** Wallets of buyers, who may buy from several servers. */
export function newBuyers(chain: BenchChain): Promise<readonly Keypair[]> {
  return Promise.all(Array.from({ length: BUYERS }, () => chain.wallet(FUNDS)));
}

/** Settles honest owners, buyers and a receiver of webhooks at a server. */
export async function settleNeighbours({ chain, url, upstream, buyers }: Surroundings): Promise<Neighbours> {
  const arrived = new Map<string, number>();
  const receiver = await receive(async (req, res) => {
    const now = Date.now();
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part);
    const { timestamp, data } = JSON.parse(Buffer.concat(parts).toString());
    arrived.set(String(data.call_id), now - Date.parse(timestamp));
    res.writeHead(204).end();
  });
  const slugs: string[] = [];
  for (let at = 0; at < OWNERS; at += 1) {
    const owner = openClient(url, `127.0.1.${200 + at}`);
    const proof = await owner.signIn(await chain.wallet({ usdc: '0' }));
    const slug = `honest-${at}`;
    const pricing = { amount: '0.01', token: 'USDC' };
    await owner.made('POST', '/api/v1/projects', {
      body: { slug, name: slug, upstream: { url: upstream }, pricing },
      headers: proof,
    });
    const webhook = { url: receiver.url, events: ['call.succeeded'] };
    await owner.made('POST', '/api/v1/webhooks', { body: webhook, headers: proof });
    await owner.close();
    slugs.push(slug);
  }
  const callers = await Promise.all(
    buyers.map(async (wallet, at): Promise<Caller> => {
      const client = openClient(url, `127.0.1.${at + 1}`);
      return {
        wallet,
        client,
        path: `/v1/${slugs[at % OWNERS]}/report`,
        key: await client.key(await client.signIn(wallet)),
      };
    }),
  );
  return {
    slugs,
    async go(forMs) {
      arrived.clear();
      const blockhash = await chain.blockhash();
      const count = Math.ceil(forMs / PACE_MS) + 1;
      const orders = await Promise.all(
        callers.map(async (it) => ({ ...it, payments: await sign(it, blockhash, count) })),
      );
      const begun = performance.now();
      const went = await Promise.all(
        orders.map((it, at) => callAll(it, begun + (at * PACE_MS) / BUYERS, begun + forMs)),
      );
      const seconds = (performance.now() - begun) / 1_000;
      const times = went.flatMap((it) => it.times);
      const until = performance.now() + LEAST_WAIT_MS;
      while (arrived.size < times.length && performance.now() < until) await pause(50);
      const missing = Array.from({ length: Math.max(0, times.length - arrived.size) }, () => Number.POSITIVE_INFINITY);
      return { seconds, times, bad: went.flatMap((it) => it.bad), webhooks: [...arrived.values(), ...missing] };
    },
    async close() {
      receiver.close();
      await Promise.all(callers.map(({ client }) => client.close()));
    },
  };
}

interface Caller {
  readonly wallet: Keypair;
  readonly client: Client;
  readonly path: string;
  readonly key: Fields;
}

async function sign(
  { client, wallet, path, key }: Caller,
  blockhash: string,
  count: number,
): Promise<readonly Fields[]> {
  const [accepted] = decodePaymentRequiredHeader(await termsOf(client, path, key)).accepts;
  if (accepted === undefined) throw new Error(`${path} offers no terms`);
  return presign({ payer: wallet, accepted, blockhash, count }).map(({ v2 }) => v2);
}

/** One call after the other, each with a payment of its own. */
function callAll(
  { client, path, key, payments }: Caller & { readonly payments: readonly Fields[] },
  begin: number,
  end: number,
): Promise<Went> {
  let at = 0;
  return atPace({ begin, end, everyMs: PACE_MS }, async () => {
    const payment = payments[at] ?? {};
    at += 1;
    const { status, body } = await client.ask('GET', path, { headers: { ...key, ...payment } });
    return status === 200 ? undefined : `${status} ${String(body['code'])}`;
  });
}
