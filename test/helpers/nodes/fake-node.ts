import type { SolanaRpc } from '../../../src/solana/rpc/rpc.js';
import { createSolanaRpc } from '../../../src/solana/rpc/rpc-client.js';

/** A node that gives these responses; every other call finds nobody. */
export function fakeNode(answers: Partial<SolanaRpc>): SolanaRpc {
  return { ...createSolanaRpc({ urls: 'http://127.0.0.1:1', timeoutMs: 200 }), ...answers };
}

/** What a call was rejected with; undefined when it was not. */
export async function rejectionOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}
