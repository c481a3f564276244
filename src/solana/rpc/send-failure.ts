import { isRecord } from '../../lib/parsed.js';
import { RpcError } from './rpc.js';

/**
 * What a failed `sendTransaction` means. `may_be_sent`: it may be with the cluster, so it has to be watched.
 * `rejected`: a node says that it simulated it in vain; `err` is undefined where it does not tell why, and
 * `AlreadyProcessed` means that the transaction landed before this first send. `refused`: a node says that it did not take it.
 * Of both the word is one node's, and what stands before several may have passed it on to another: it is believed when the
 * signature was looked for. `not_sent`: no byte has left.
 */
export type SendFailure =
  | { readonly kind: 'may_be_sent' }
  | { readonly kind: 'rejected'; readonly err: unknown; readonly logs: readonly string[] }
  | { readonly kind: 'refused' }
  | { readonly kind: 'not_sent' };

/** Solana's code for a transaction that failed the node's own simulation. */
const PREFLIGHT_FAILURE = -32_002;
/**
 * Codes by which a node says that it took nothing: JSON-RPC's for a request that cannot be understood, and Solana's for a
 * transaction that is refused before it is sent on (signature, simulation, version) or by a node that lags behind. Any other,
 * such as an internal error, may come from whatever stands before the node, when the node has passed the transaction on.
 */
const TOOK_NOTHING = new Set([
  -32_700,
  -32_600,
  -32_601,
  -32_602,
  PREFLIGHT_FAILURE,
  -32_003,
  -32_004,
  -32_005,
  -32_006,
  -32_013,
  -32_015,
  -32_016,
]);

/** Whether a transaction may be on its way although its send failed so: everything but a proof of the contrary. */
export function mayBeSent({ failure, details: { code, mayHaveArrived } }: RpcError): boolean {
  const isOpen = failure === 'answer' && (code === undefined || !TOOK_NOTHING.has(code));
  return mayHaveArrived === true || isOpen;
}

/** Whether a node has refused a transaction because it does not know the blockhash: it may be too old, or the node may not have got it yet. */
export function isBlockhashUnknown({ failure, details: { code, data } }: RpcError): boolean {
  return failure === 'answer' && code === PREFLIGHT_FAILURE && isRecord(data) && data['err'] === 'BlockhashNotFound';
}

/** Reads the error of the first send of a transaction. */
export function readSendFailure(error: unknown): SendFailure {
  // What happens once a byte may have left becomes an RpcError (json-rpc.ts): anything else came up before the call.
  if (!(error instanceof RpcError)) return { kind: 'not_sent' };
  const { code, data } = error.details;
  if (mayBeSent(error)) return { kind: 'may_be_sent' };
  if (error.failure !== 'answer') return { kind: 'not_sent' };
  if (code !== PREFLIGHT_FAILURE) return { kind: 'refused' };
  const { err, logs } = isRecord(data) ? data : {};
  const lines = Array.isArray(logs) ? logs.filter((line) => typeof line === 'string') : [];
  return { kind: 'rejected', err: err ?? undefined, logs: lines };
}
