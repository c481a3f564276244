import { setTimeout as pause } from 'node:timers/promises';
import type { SolanaRpc } from '../solana/rpc.js';
import { online } from './chain-landing.js';
import type { LandedFacts } from './payment-request-types.js';

const TRIES = 5;
const BETWEEN_TRIES_MS = 200;

/**
 * What a landed transaction cost. A node may confirm a transaction a moment before it can tell about it, so a few tries
 * are made; undefined when it still cannot.
 */
export async function readLandedFacts(signature: string, rpc: SolanaRpc): Promise<LandedFacts | undefined> {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const landed = await online(rpc.getTransaction(signature, 'confirmed'));
    if (landed !== null) {
      const { slot, computeUnits, feeLamports } = landed;
      return { slot, computeUnits, feeLamports };
    }
    if (attempt < TRIES) await pause(BETWEEN_TRIES_MS);
  }
  return undefined;
}
