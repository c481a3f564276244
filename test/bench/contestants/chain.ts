import bs58 from 'bs58';
import { startSandbox, type WalletFunds } from '../../../src/sandbox/start-sandbox.js';
import type { ContestantParts } from '../contestant.js';

interface Settings {
  readonly slotMs?: number;
}

/** Payments are signed long before they are sent. */
const BLOCKHASH_AGE = 10_000;

/** The chain, in a process of its own. */
export async function start({ slotMs = 20 }: Settings): Promise<ContestantParts> {
  const sandbox = await startSandbox({ slotMs, maxBlockhashAgeBlocks: BLOCKHASH_AGE });
  return {
    url: sandbox.rpcUrl,
    asks: {
      wsUrl: () => sandbox.wsUrl,
      wallet: async (funds) => bs58.encode((await sandbox.createWallet(funds as WalletFunds)).secretKey),
      calls: () => ({ ...sandbox.calls }),
    },
  };
}
