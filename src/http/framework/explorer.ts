import type { Request, RequestHandler } from 'express';
import { trimEnd } from '../../lib/trim-end.js';
import { mountAddress } from '../../middleware/gate/request-url.js';
import { sendProblem } from '../../middleware/gate/respond.js';
import { isSignature } from '../../protocol/address.js';
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
  readonly facilitator: { readonly network: NetworkId };
  readonly baseUrl?: string | undefined;
  readonly explorerUrl?: string | undefined;
}

/**
 * Address before `/tx/<signature>`. The contract's form has no room for the cluster, so links to other clusters than
 * mainnet lead over `/explorer` of this server.
 */
export function explorerOf({ facilitator, baseUrl, explorerUrl }: ExplorerOptions, req: Request): string {
  if (explorerUrl !== undefined) return trimEnd(explorerUrl, '/');
  return facilitator.network === 'solana' ? EXPLORER : `${mountAddress(req, baseUrl)}/explorer`;
}

/** `GET /explorer/tx/:signature`: on to the explorer, with the right cluster. */
export function redirectToExplorer(network: NetworkId): RequestHandler {
  return (req, res) => {
    const signature = String(req.params.signature);
    if (!isSignature(signature)) return sendProblem(res, 'invalid_signature', 'This is not a transaction signature.');
    res.redirect(`${EXPLORER}/tx/${signature}${CLUSTER_QUERIES[network]}`);
  };
}
