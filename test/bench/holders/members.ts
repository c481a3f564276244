import type { Keypair } from '@solana/web3.js';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { signInHeader, signInInfo, type WalletKey, walletKeyOf } from '../../helpers/transactions/wallet-key.js';
import type { BenchChain } from '../chain.js';
import { atPace, type Went } from '../pace.js';
import { type Client, type Fields, openClient } from '../strangers/client.js';

/** How a holder comes in. */
export type Way = 'token' | 'sign-in' | 'key';

/** Holders of one site. */
export interface Members {
  /** Lets them come and go for a while; what became of them, by the way in which they come in. */
  go(forMs: number): Promise<Readonly<Record<Way, Went>>>;
  close(): Promise<void>;
}

interface Member {
  readonly way: Way;
  readonly client: Client;
  /** Comes in once; resolves with what was wrong. */
  come(): Promise<string | undefined>;
}

const COUNTS: Readonly<Record<Way, number>> = { token: 8, 'sign-in': 6, key: 4 };
/** Of those who sign in anew each takes two requests that count against its address, which has 120 a minute. */
const EVERY_MS: Readonly<Record<Way, number>> = { token: 400, 'sign-in': 1_500, key: 400 };
const FUNDS = { usdc: '5000' };

/**
 * Settles holders at a site, each a wallet with an address of its own.
 * @param shared - the address of somebody else, from which one more comes with a token
 */
export async function settleMembers(chain: BenchChain, url: string, shared: string): Promise<Members> {
  let addresses = 0;
  const newClient = () => {
    addresses += 1;
    return openClient(url, `127.0.1.${addresses}`);
  };
  const members: Member[] = [];
  for (const way of ['token', 'sign-in', 'key'] as const) {
    for (let at = 0; at < COUNTS[way]; at += 1) {
      const client = newClient();
      members.push({ way, client, come: await entryOf(way, client, await chain.wallet(FUNDS), at) });
    }
  }
  const [neighbour, home] = [openClient(url, shared), newClient()];
  const proof = await home.signIn(await chain.wallet(FUNDS));
  await home.close();
  members.push({ way: 'token', client: neighbour, come: () => ask(neighbour, '/club/balance', proof) });
  return {
    async go(forMs) {
      const begin = performance.now();
      const went = await Promise.all(
        members.map(async ({ way, come }, at) => {
          const first = begin + (at * EVERY_MS[way]) / members.length;
          return { way, ...(await atPace({ begin: first, end: begin + forMs, everyMs: EVERY_MS[way] }, come)) };
        }),
      );
      const of = (way: Way): Went => {
        const all = went.filter((it) => it.way === way);
        return { times: all.flatMap(({ times }) => times), bad: all.flatMap(({ bad }) => bad) };
      };
      return { token: of('token'), 'sign-in': of('sign-in'), key: of('key') };
    },
    async close() {
      await Promise.all(members.map(({ client }) => client.close()));
    },
  };
}

async function entryOf(way: Way, client: Client, keypair: Keypair, at: number): Promise<Member['come']> {
  const gate = at % 2 === 0 ? '/club/balance' : '/club/tier';
  if (way === 'sign-in') {
    const wallet = walletKeyOf(keypair.secretKey.subarray(0, 32));
    return () => signInAnew(client, gate, wallet);
  }
  const proof = await client.signIn(keypair);
  if (way === 'token') return () => ask(client, gate, proof);
  const key = await client.key(proof);
  return () => ask(client, '/club/key', key);
}

async function signInAnew(client: Client, path: string, wallet: WalletKey): Promise<string | undefined> {
  const { status, headers } = await client.ask('GET', path);
  if (status !== 402) return `asked for a challenge: ${status}`;
  const { extensions = {} } = decodePaymentRequiredHeader(String(headers['payment-required']));
  return ask(client, path, { 'sign-in-with-x': signInHeader(wallet, signInInfo({ extensions })) });
}

async function ask(client: Client, path: string, headers: Fields): Promise<string | undefined> {
  const { status, body } = await client.ask('GET', path, { headers });
  return status === 200 ? undefined : `${client.address} at ${path}: ${status} ${String(body['code'])}`;
}
