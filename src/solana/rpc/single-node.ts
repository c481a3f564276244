import { defined } from '../../lib/defined.js';
import { badResponse, type JsonRpcEndpoint } from './json-rpc.js';
import { landedReaders } from './landed-readers.js';
import { count } from './response-shape.js';
import { ResponseShapeError } from './response-shape-error.js';
import type { SolanaNode } from './rpc.js';
import { readSimulation, readStatuses, readText, readTip } from './rpc-responses.js';
import { simulationParams } from './simulation-params.js';

/** Most signatures in one `getSignaturesForAddress` (Solana's limit). */
const MAX_HISTORY_PER_CALL = 1_000;

/**
 * Makes a node of an endpoint.
 * @param timeoutMs - deadline of a call, in milliseconds
 */
export function createSolanaNode(endpoint: JsonRpcEndpoint, timeoutMs: number): SolanaNode {
  async function ask<T>(method: string, params: readonly unknown[], read: (result: unknown) => T): Promise<T> {
    const result = await endpoint.call(method, params, timeoutMs);
    try {
      return read(result);
    } catch (error) {
      if (error instanceof ResponseShapeError) throw badResponse(`${method} at ${endpoint.host}`, error.message);
      throw error;
    }
  }

  return {
    host: endpoint.host,
    getTip: (commitment) => ask('getEpochInfo', [{ commitment }], readTip),
    async getHistory(address, before) {
      const { readHistory } = await landedReaders();
      const cursor = defined({ before });
      const config = { limit: MAX_HISTORY_PER_CALL, commitment: 'confirmed', ...cursor };
      return ask('getSignaturesForAddress', [address, config], readHistory);
    },
    async findSignature(signature) {
      const params = [[signature], { searchTransactionHistory: true }];
      const { slot, states } = await ask('getSignatureStatuses', params, (result) => readStatuses(result, 1));
      return { slot, state: states[0] ?? null };
    },
    getFirstAvailableSlot: () => ask('getFirstAvailableBlock', [], (result) => count(result, 'result')),
    getGenesisHash: () => ask('getGenesisHash', [], readText),
    simulateTransaction(transaction, options) {
      const params = simulationParams(transaction, options);
      return ask('simulateTransaction', params, (result) => readSimulation(result, options));
    },
  };
}
