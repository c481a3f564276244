import { setTimeout as pause } from 'node:timers/promises';
import { RpcError } from '../../solana/rpc/rpc.js';

const TRIES = 6;
const FIRST_PAUSE_MS = 500;

/** Asks the chain for somebody who can wait: what may pass is tried again, with growing pauses, some 15 s in all. */
export async function withRetry<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      const mayPass = error instanceof RpcError && error.failure !== 'answer' && error.failure !== 'closed';
      if (!mayPass || attempt === TRIES) throw error;
      await pause(error.details.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (attempt - 1));
    }
  }
}
