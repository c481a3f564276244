import { setTimeout as wait } from 'node:timers/promises';
import type { Fault, FaultSource } from '../faults.js';
import { JsonRpcFault, RPC_CODES } from '../runtime/rpc-error.js';
import type { CallCounter } from './calls.js';

/** A failure of the transport itself, on demand. */
export type TransportFault = '429' | 'hang' | 'disconnect';

/** What to do with a call: answer it, say nothing (it had no id), or fail as a fault demands. */
export type Reply =
  | { readonly kind: 'answer'; readonly body: unknown }
  | { readonly kind: 'none' }
  | { readonly kind: TransportFault };

/** Runs a method; `fault` is the one in force that the method itself must see to. */
export type Invoke = (method: string, params: readonly unknown[], fault: Fault | undefined) => unknown;

/** What a dispatcher works with. */
export interface DispatchParts {
  readonly transport: 'http' | 'socket';
  readonly counter: CallCounter;
  readonly faults: FaultSource;
  /** Ends the waiting of delayed responses. */
  readonly signal: AbortSignal;
}

/** Handles one JSON-RPC request. */
export type Dispatch = (request: unknown, invoke: Invoke) => Promise<Reply>;

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

const DEFAULT_DELAY_MS = 100;
const UNHEALTHY = -32005;
const TRANSPORT_FAULTS: ReadonlySet<string> = new Set(['429', 'hang', 'disconnect']);

/** Creates a dispatcher: JSON-RPC 2.0 envelopes, counting, faults. */
export function createDispatch({ transport, counter, faults, signal }: DispatchParts): Dispatch {
  return async (request, invoke) => {
    const call = readCall(request);
    if (call === null) {
      return answer(null, new JsonRpcFault(RPC_CODES.invalidRequest, 'Invalid request'));
    }
    counter.count(call.method, transport);
    const fault = faults.take(call.method);
    const early = fault?.takesEffect === true ? run(call, invoke, fault) : undefined;
    if (fault?.kind === 'delay') {
      await wait(fault.delayMs ?? DEFAULT_DELAY_MS, undefined, { signal }).catch(() => undefined);
    }
    if (isTransportFault(fault)) {
      return { kind: fault.kind };
    }
    const outcome = fault?.kind === 'error' ? demanded(fault) : early === undefined ? run(call, invoke, fault) : early;
    return call.id === undefined ? { kind: 'none' } : answer(call.id, outcome);
  };
}

/** The body of an error response that belongs to no call. */
export function errorBody(error: JsonRpcFault, id: unknown = null): unknown {
  const { code, message, data } = error;
  return { jsonrpc: '2.0', error: data === undefined ? { code, message } : { code, message, data }, id };
}

function run({ method, params }: Call, invoke: Invoke, fault: Fault | undefined): unknown {
  try {
    return invoke(method, params, fault);
  } catch (error) {
    return error instanceof JsonRpcFault ? error : new JsonRpcFault(-32603, `Internal error: ${String(error)}`);
  }
}

function answer(id: unknown, outcome: unknown): Reply {
  const body = outcome instanceof JsonRpcFault ? errorBody(outcome, id) : { jsonrpc: '2.0', result: outcome, id };
  return { kind: 'answer', body };
}

function readCall(request: unknown): Call | null {
  if (typeof request !== 'object' || request === null) {
    return null;
  }
  const { jsonrpc, id, method, params = [] } = request as Record<string, unknown>;
  return jsonrpc === '2.0' && typeof method === 'string' && Array.isArray(params) ? { id, method, params } : null;
}

function demanded({ code, message }: Fault): JsonRpcFault {
  return new JsonRpcFault(code ?? UNHEALTHY, message ?? 'Node is unhealthy');
}

function isTransportFault(fault: Fault | undefined): fault is Fault & { kind: TransportFault } {
  return fault !== undefined && TRANSPORT_FAULTS.has(fault.kind);
}
