import { RpcError } from '../../src/solana/rpc/rpc.js';

/** The RpcError a promise rejects with; fails for anything else. */
export async function rpcErrorOf(promise: Promise<unknown>): Promise<RpcError> {
  const outcome = await promise.then(
    (value: unknown) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in outcome && outcome.error instanceof RpcError) return outcome.error;
  throw new Error(`expected an RpcError, got ${JSON.stringify(outcome)}`);
}
