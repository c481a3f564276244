import type { Request } from 'express';
import { trimEnd } from '../../lib/trim-end.js';
import { mountAddress } from '../../middleware/gate/request-url.js';
import type { NetworkId } from '../../protocol/types.js';

const EXPLORER = 'https://explorer.solana.com';

/** How the explorer is told which cluster is meant; it shows mainnet unless told otherwise. */
const CLUSTER_QUERIES: Readonly<Record<NetworkId, string>> = {
  solana: '',
  'solana-devnet': '?cluster=devnet',
  'solana-testnet': '?cluster=testnet',
};

/** What an explorer's address depends on. */
export interface ExplorerOptions {
  readonly network: NetworkId;
  readonly baseUrl?: string | undefined;
  readonly explorerUrl?: string | undefined;
}

/**
 * Address before `/tx/<signature>`. The contract's form has no room for the cluster, so links to other clusters than
 * mainnet lead over `/explorer` of this server.
 */
export function explorerOf({ network, baseUrl, explorerUrl }: ExplorerOptions, req: Request): string {
  if (explorerUrl !== undefined) return trimEnd(explorerUrl, '/');
  return network === 'solana' ? EXPLORER : `${mountAddress(req, baseUrl)}/explorer`;
}

/** Where the explorer shows a transaction, told which cluster it is on. */
export function explorerLink(network: NetworkId, signature: string): string {
  return `${EXPLORER}/tx/${signature}${CLUSTER_QUERIES[network]}`;
}
