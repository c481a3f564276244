import type { RpcCallSeen } from '../../telemetry/observed.js';
import type { JsonRpcEndpoint } from './json-rpc.js';
import { RpcError } from './rpc.js';

/** An endpoint whose every call is told of when it is over. Probes of its health are calls as well. */
export function observedEndpoint(
  endpoint: JsonRpcEndpoint,
  onCall: ((seen: RpcCallSeen) => void) | undefined,
): JsonRpcEndpoint {
  if (onCall === undefined) return endpoint;
  const { host } = endpoint;
  return {
    ...endpoint,
    call(method, params, timeoutMs, maxBytes) {
      const begunAt = performance.now();
      const told = (outcome: string): void =>
        onCall({ host, method, outcome, seconds: (performance.now() - begunAt) / 1_000 });
      return endpoint.call(method, params, timeoutMs, maxBytes).then(
        (result) => {
          told('ok');
          return result;
        },
        (error: unknown) => {
          told(error instanceof RpcError ? error.failure : 'unknown');
          throw error;
        },
      );
    },
  };
}
