import { Keypair } from '@solana/web3.js';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequirements } from '@x402/core/types';
import bs58 from 'bs58';
import { type Client, type Fields, openClient, termsOf } from './client.js';
import { receive } from './receiver.js';

/** Addresses that they come from, 127.0.2.1 and on, and those of their receivers of webhooks. */
const ADDRESSES = 10;
const RECEIVERS = 5;
const WEBHOOKS = 20;
const KEYS = 10;
/** The least that can be asked for. */
const DUST = '0.000001';

/** What hostile strangers are told. */
export interface HostileSettings {
  /** The server under attack. */
  readonly url: string;
  /** Projects of others there. */
  readonly slugs: readonly string[];
  readonly blockhash: string;
  /** Secret keys of wallets with USDC, base58. */
  readonly owners: readonly string[];
  readonly buyers: readonly string[];
}

/** A wallet that owns projects, has signed in, and has 20 webhooks at receivers that never answer. */
export interface HostileOwner {
  readonly wallet: Keypair;
  readonly proof: Fields;
  /** One whose price goes to its owner, and one whose upstream fails. */
  readonly vain: HostileProject;
  readonly failing: HostileProject;
}

/** A project, and how it is called with a key of its owner. */
export interface HostileProject {
  readonly id: string;
  readonly path: string;
  readonly key: Fields;
  readonly terms: PaymentRequirements;
}

/** Everybody who is hostile, and where they come from. */
export interface HostileParties {
  readonly addresses: readonly string[];
  readonly clients: readonly Client[];
  readonly owners: readonly HostileOwner[];
  readonly buyers: readonly { readonly wallet: Keypair; readonly proof: Fields; readonly keys: readonly Fields[] }[];
  /** What a call of somebody else's project costs. */
  readonly theirs: PaymentRequirements;
  readonly webhooks: number;
  /** A server that answers 500 to everything. */
  readonly failing: string;
  close(): Promise<void>;
}

/** Signs everybody in, and makes what they own. */
export async function gatherHostile(settings: HostileSettings): Promise<HostileParties> {
  const { url, slugs } = settings;
  const addresses = Array.from({ length: ADDRESSES }, (_, at) => `127.0.2.${at + 1}`);
  const clients = addresses.map((address) => openClient(url, address, 30));
  const clientAt = (at: number) => clients[at % ADDRESSES]!;
  const fails = await receive((_req, res) => void res.writeHead(500).end('no'), '127.0.3.200');
  const silent = await Promise.all(
    Array.from({ length: RECEIVERS }, (_, at) => receive((req) => void req.resume(), `127.0.3.${at + 1}`)),
  );
  const walletOf = (secret: string) => Keypair.fromSecretKey(bs58.decode(secret));
  const owners = await Promise.all(
    settings.owners.map(async (secret, at): Promise<HostileOwner> => {
      const [client, wallet] = [clientAt(at), walletOf(secret)];
      const proof = await client.signIn(wallet);
      const vain = await sell(client, proof, `vain-${at}`, fails.url);
      const failing = await sell(client, proof, `failing-${at}`, fails.url);
      for (let hook = 0; hook < WEBHOOKS; hook += 1) {
        const body = { url: `${silent[hook % RECEIVERS]!.url}/${hook}`, events: ['*'] };
        await client.made('POST', '/api/v1/webhooks', { body, headers: proof });
      }
      return { wallet, proof, vain, failing };
    }),
  );
  const buyers = await Promise.all(
    settings.buyers.map(async (secret, at) => {
      const [client, wallet] = [clientAt(settings.owners.length + at), walletOf(secret)];
      const proof = await client.signIn(wallet);
      const keys: Fields[] = [];
      for (let key = 0; key < KEYS; key += 1) keys.push(await client.key(proof));
      return { wallet, proof, keys };
    }),
  );
  const theirs = await priceOf(clientAt(0), `/v1/${slugs[0]}/x`, buyers[0]!.keys[0]!);
  return {
    ...{ addresses, clients, owners, buyers, theirs, webhooks: owners.length * WEBHOOKS, failing: fails.url },
    async close() {
      for (const it of [fails, ...silent]) it.close();
      await Promise.all(clients.map((it) => it.close()));
    },
  };
}

async function sell(client: Client, proof: Fields, slug: string, upstream: string): Promise<HostileProject> {
  const pricing = { amount: DUST, token: 'USDC' };
  const body = { slug, name: slug, upstream: { url: upstream }, pricing, visibility: 'listed' };
  const { id } = await client.made('POST', '/api/v1/projects', { body, headers: proof });
  const key = await client.key(proof);
  const path = `/v1/${slug}/x`;
  return { id: String(id), path, key, terms: await priceOf(client, path, key) };
}

async function priceOf(client: Client, path: string, key: Fields): Promise<PaymentRequirements> {
  const [terms] = decodePaymentRequiredHeader(await termsOf(client, path, key)).accepts;
  if (terms === undefined) throw new Error(`${path} offers no terms`);
  return terms;
}
