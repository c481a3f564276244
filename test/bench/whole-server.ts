import bs58 from 'bs58';
import type { BenchChain } from './chain.js';
import { type Contestant, startContestant } from './contestant.js';

/**
 * Starts the whole server as `tollhouse serve` does, with all limits as they are by default.
 * @param more - environment variables beside those of the chain and the database
 */
export async function startWholeServer(
  chain: BenchChain,
  databaseUrl: string,
  more: Readonly<Record<string, string>>,
): Promise<Contestant> {
  return startContestant('whole-server', {
    env: {
      BASE_URL: 'http://localhost',
      SOLANA_NETWORK: 'solana-devnet',
      SOLANA_RPC_URL: chain.rpcUrl,
      SOLANA_WS_URL: chain.wsUrl,
      FACILITATOR_KEYPAIR: bs58.encode((await chain.wallet({ sol: '100' })).secretKey),
      DATABASE_URL: databaseUrl,
      JWT_SECRET: 'a secret that is good enough for a bench',
      ...more,
    },
  });
}
