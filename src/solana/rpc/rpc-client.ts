import { badOption } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import type { RpcCallSeen } from '../../telemetry/observed.js';
import { type CallBounds, createFailOver } from './fail-over.js';
import { createJsonRpcEndpoint } from './json-rpc.js';
import { landedReaders } from './landed-readers.js';
import { observedEndpoint } from './observed-endpoint.js';
import type { SimulationOutcome, SolanaRpc } from './rpc.js';
import {
  readAccounts,
  readLatestBlockhash,
  readSimulation,
  readStatuses,
  readText,
  readTip,
  readTokenAccounts,
} from './rpc-responses.js';
import { base64, simulationParams } from './simulation-params.js';
import { createSolanaNode } from './single-node.js';

/** Settings of {@link createSolanaRpc}. */
export interface SolanaRpcOptions {
  /** One endpoint, or several in order of preference. `http:` or `https:`. */
  readonly urls: string | readonly string[];
  /** Deadline of a call with all its tries, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** Largest response that is read, in bytes. Default 16 MiB. */
  readonly maxResponseBytes?: number;
  /** Most connections to one endpoint. Default 64. */
  readonly connections?: number;
  /** Rest of an endpoint after its first failure, in milliseconds; doubles with each further one. Default 100. */
  readonly firstRestMs?: number;
  /** Longest rest of a failing endpoint, in milliseconds. Default 15,000. */
  readonly longestRestMs?: number;
  /** How often several endpoints are compared by their slots while they are in use, in milliseconds; `Infinity`: never. Default 10,000. */
  readonly slotsEveryMs?: number;
  /** Told of each call of an endpoint, of every try. Default: nobody. */
  readonly onCall?: (seen: RpcCallSeen) => void;
  /** Clock in milliseconds, never going back. Default `performance.now`. */
  readonly now?: () => number;
  /** Numbers from 0 up to, not including, 1, for jitter. Default `Math.random`. */
  readonly random?: () => number;
}

/** Most addresses in one `getMultipleAccounts` (Solana's limit). */
export const MAX_ACCOUNTS_PER_CALL = 100;

/** Most signatures in one `getSignatureStatuses` (Solana's limit). */
export const MAX_SIGNATURES_PER_CALL = 256;

/** Most signatures in one `getSignaturesForAddress` (Solana's limit). */
export const MAX_HISTORY_PER_CALL = 1_000;

/** For what a node that lags behind would answer as of then. */
const OF_NOW = { isOfNow: true } as const;

/** A node that does not know a blockhash may only not have got its block yet. */
const SIMULATED: CallBounds<SimulationOutcome> = { isUnknown: ({ err }) => err === 'BlockhashNotFound' };

/** Mint, owner and amount stand first in a token account, under both programs. */
const TOKEN_ACCOUNT_HEAD_BYTES = 72;

const DEFAULTS = {
  timeoutMs: 10_000,
  firstRestMs: 100,
  longestRestMs: 15_000,
  slotsEveryMs: 10_000,
  now: () => performance.now(),
  random: Math.random,
};

/**
 * Connects to a Solana cluster through one or several JSON-RPC endpoints. Connects with the first call.
 * All calls may be repeated safely (reads; and sending the same signed bytes, which the cluster takes once), so each
 * is tried again on the next endpoint, or once more on the only one.
 *
 * @throws {TollhouseError} `bad_option` when there is no endpoint or an address is wrong
 */
export function createSolanaRpc(options: SolanaRpcOptions): SolanaRpc {
  const urls = typeof options.urls === 'string' ? [options.urls] : options.urls;
  if (urls.length === 0) throw badOption('Solana RPC', 'no endpoint; give at least one address', 'rpcUrl');
  const endpoints = urls.map((url) => observedEndpoint(createJsonRpcEndpoint({ ...options, url }), options.onCall));
  const settings = { ...DEFAULTS, ...options };
  const { call, lagging } = createFailOver(endpoints, settings);

  return {
    getLatestBlockhash: (commitment) => call('getLatestBlockhash', [{ commitment }], readLatestBlockhash, OF_NOW),
    getTip: (commitment) => call('getEpochInfo', [{ commitment }], readTip, OF_NOW),
    async getAccounts(addresses, commitment, headBytes) {
      if (addresses.length === 0) return [];
      atMost(addresses, MAX_ACCOUNTS_PER_CALL, 'addresses');
      const dataSlice = headBytes === undefined ? {} : { dataSlice: { offset: 0, length: headBytes } };
      const params = [addresses, { encoding: 'base64', commitment, ...dataSlice }];
      return call('getMultipleAccounts', params, (result) => readAccounts(result, addresses.length));
    },
    getTokenAccountsByOwner(owner, filter, commitment, maxBytes) {
      const config = { encoding: 'base64', dataSlice: { offset: 0, length: TOKEN_ACCOUNT_HEAD_BYTES }, commitment };
      return call('getTokenAccountsByOwner', [owner, filter, config], readTokenAccounts, { maxBytes, isChosen: true });
    },
    simulateTransaction(transaction, options) {
      const read = (result: unknown) => readSimulation(result, options);
      return call('simulateTransaction', simulationParams(transaction, options), read, SIMULATED);
    },
    sendTransaction(transaction, { skipPreflight, preflightCommitment }) {
      const config = { encoding: 'base64', skipPreflight, preflightCommitment };
      return call('sendTransaction', [base64(transaction), config], readText);
    },
    async getSignatureStatuses(signatures, { searchHistory = false } = {}) {
      atMost(signatures, MAX_SIGNATURES_PER_CALL, 'signatures');
      const params = [signatures, { searchTransactionHistory: searchHistory }];
      return call('getSignatureStatuses', params, (result) => readStatuses(result, signatures.length));
    },
    async getTransaction(signature, commitment) {
      const { readLandedTransaction } = await landedReaders();
      const config = { encoding: 'base64', commitment, maxSupportedTransactionVersion: 0 };
      return call('getTransaction', [signature, config], readLandedTransaction);
    },
    async getHistory(address, before) {
      const { readHistory } = await landedReaders();
      const config = {
        limit: MAX_HISTORY_PER_CALL,
        commitment: 'confirmed',
        ...defined({ before }),
      };
      return call('getSignaturesForAddress', [address, config], readHistory);
    },
    getGenesisHash: () => call('getGenesisHash', [], readText),
    async close() {
      await Promise.all(endpoints.map((endpoint) => endpoint.close()));
    },
    lagging,
    nodes: endpoints.map((endpoint) => createSolanaNode(endpoint, settings.timeoutMs)),
  };
}

function atMost(items: readonly string[], limit: number, what: string): void {
  if (items.length > limit) throw new RangeError(`${items.length} ${what} in one call; at most ${limit}`);
}
