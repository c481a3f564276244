import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { type BenchChain, startChain } from './chain.js';
import { type Contestant, type Json, startContestant } from './contestant.js';
import type { SellerSettings } from './contestants/seller.js';

/** What differs from one seller to the other. */
export type SellerChoice = Omit<SellerSettings, 'rpcUrl' | 'wsUrl' | 'payTo' | 'keypairs' | 'unpaidBody'> & {
  readonly unpaidBody?: Json;
  /** The node that it works on. Default: the chain's own. */
  readonly rpcUrl?: string;
  /** How many keys it has to pay fees with. Default 1. */
  readonly feePayers?: number;
};

/** A chain, sellers on it, and somebody who can pay them. */
export interface Sellers {
  readonly chain: BenchChain;
  readonly payer: Keypair;
  start(choice: SellerChoice): Promise<Contestant>;
}

/** Runs something with sellers on a new chain, and ends all of them after it. */
export async function withSellers<T>(slotMs: number, work: (sellers: Sellers) => Promise<T>): Promise<T> {
  const chain = await startChain(slotMs);
  const started: Contestant[] = [];
  try {
    const { rpcUrl, wsUrl } = chain;
    const payer = await chain.wallet({ usdc: '1000000' });
    const payTo = (await chain.wallet({ usdc: '0' })).publicKey.toBase58();
    return await work({
      chain,
      payer,
      async start({ feePayers = 1, ...choice }) {
        const wallets = await Promise.all(Array.from({ length: feePayers }, () => chain.wallet({ sol: '1000' })));
        const keypairs = wallets.map(({ secretKey }) => bs58.encode(secretKey));
        const contestant = await startContestant('seller', { rpcUrl, ...choice, wsUrl, payTo, keypairs });
        started.push(contestant);
        return contestant;
      },
    });
  } finally {
    await Promise.all(started.map((it) => it.stop()));
    await chain.process.stop();
  }
}
