import { PUBLIC_RPC } from '../../facilitator/facilitator-options.js';
import type { NetworkId } from '../../protocol/types.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { createSolanaRpc } from '../../solana/rpc/rpc-client.js';
import { CommandError } from '../command.js';

/** The node that the payer asks. */
export interface PayerNode {
  readonly rpc: SolanaRpc;
  /** Host and port, for messages. */
  readonly host: string;
}

/** Opens the node that was named, or else a public one of the network; `rpc.close()` ends it. */
export function openPayerNode(rpcUrl: string | undefined, network: NetworkId): PayerNode {
  const url = rpcUrl ?? PUBLIC_RPC[network];
  const rpc = createSolanaRpc({ urls: url });
  return { rpc, host: new URL(url).host };
}

/**
 * What is told where a node does not know the account of a fee payer. Whoever pays network fees has one on his own chain, also as a
 * node sees it that lags; a blockhash such a node would not know.
 */
export function otherChain({ host }: PayerNode, feePayer: string): CommandError {
  return new CommandError(
    `the node at ${host} does not know the server's fee payer ${feePayer}: either it is of another chain than the server (name one of its chain with --rpc), or the fee payer has no SOL yet, and its owner has to send it some; nothing was paid`,
  );
}
