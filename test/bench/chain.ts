import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { type Contestant, type Json, startContestant } from './contestant.js';

/** The chain that the contestants settle on, as the bench sees it. */
export interface BenchChain {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly process: Contestant;
  /** A new wallet with what is asked for, as in `Sandbox.createWallet`. */
  wallet(funds: Json): Promise<Keypair>;
  /** JSON-RPC calls over HTTP so far; of one method, or of all. */
  calls(method?: string): Promise<number>;
  /** A fresh blockhash. */
  blockhash(): Promise<string>;
}

/** Starts a chain in a process of its own. */
export async function startChain(slotMs = 20): Promise<BenchChain> {
  const process = await startContestant('chain', { slotMs });
  const rpcUrl = process.url;
  return {
    rpcUrl,
    wsUrl: await process.ask<string>('wsUrl'),
    process,
    wallet: async (funds) => Keypair.fromSecretKey(bs58.decode(await process.ask<string>('wallet', funds))),
    calls: async (method = 'total') => (await process.ask<Readonly<Record<string, number>>>('calls'))[method] ?? 0,
    async blockhash() {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getLatestBlockhash', params: [] });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(rpcUrl, { method: 'POST', headers, body });
      const { result } = (await answer.json()) as { result: { value: { blockhash: string } } };
      return result.value.blockhash;
    },
  };
}
