import { setTimeout as pause } from 'node:timers/promises';
import { type Passage, startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import type { ContestantParts } from '../contestant.js';

interface Settings {
  readonly rpcUrl: string;
  /** How much longer each call takes. */
  readonly delayMs: number;
}

/** A node that is slow, before a chain. */
export async function start({ rpcUrl, delayMs }: Settings): Promise<ContestantParts> {
  const proxy = await startRpcProxy(rpcUrl);
  proxy.decide = async (): Promise<Passage> => {
    await pause(delayMs);
    return 'pass';
  };
  return { url: proxy.url };
}
