import type { NetworkId } from '../../protocol/types.js';
import { withHidden } from './hidden-fields.js';
import { type NetworkVariables, ownChainOf } from './network-variables.js';
import { type RefundConfiguration, type RefundVariables, refundsOf } from './refund-variables.js';

/** Which Solana to talk to, and with which key. */
export interface ChainConfiguration {
  /** `SOLANA_NETWORK`, or the first of several. */
  readonly network: NetworkId;
  /** `SOLANA_RPC_URL`, several separated by commas. Default: the cluster's public one. */
  readonly rpcUrl?: readonly string[] | undefined;
  /** `SOLANA_WS_URL`. */
  readonly wsUrl?: string | undefined;
  /**
   * `FACILITATOR_KEYPAIR`: path of a key file, base58 text, or JSON array. Pays the network fees. Of several paths or texts,
   * separated by commas, the first is offered, and the others settle what was offered with them before.
   */
  readonly keypair: readonly string[];
  /**
   * `SPLIT_KEYPAIR`, in the same forms: the wallet that is paid for projects with several recipients, and pays them out. Its
   * token accounts must exist. Of several paths or texts, separated by commas, the first is paid, and the others pay out what was
   * paid to them before. Default: none, and such projects are paid by `/create-payment` only.
   */
  readonly splitKeypair?: readonly string[] | undefined;
  /** `REFUND_KEYPAIR`, `REFUND_MAX`, `REFUND_MAX_PER_DAY`. Default: nothing is refunded on the chain. */
  readonly refunds?: RefundConfiguration | undefined;
}

/** What the environment says of chains. */
interface ChainVariables extends NetworkVariables, RefundVariables {
  readonly SOLANA_NETWORK?: readonly NetworkId[] | undefined;
  readonly SOLANA_RPC_URL?: readonly string[] | undefined;
  readonly SOLANA_WS_URL?: string | undefined;
  readonly FACILITATOR_KEYPAIR?: readonly string[] | undefined;
  readonly SPLIT_KEYPAIR?: readonly string[] | undefined;
}

const LEAVES_SANDBOX = [
  'SOLANA_NETWORK',
  'SOLANA_RPC_URL',
  'SOLANA_WS_URL',
  'FACILITATOR_KEYPAIR',
  'SPLIT_KEYPAIR',
  'REFUND_KEYPAIR',
];
const NEEDED_OUTSIDE = ['SOLANA_NETWORK', 'FACILITATOR_KEYPAIR'];

/** What is missing of a chain of which something is said. */
export function chainFaults(env: Readonly<Record<string, string | undefined>>): string[] {
  const missing = NEEDED_OUTSIDE.filter((name) => env[name] === undefined);
  const stays = LEAVES_SANDBOX.every((name) => env[name] === undefined);
  if (stays || missing.length === 0) return [];
  return [`to leave the sandbox chain, ${missing.join(' and ')} must be set as well`];
}

/** The first chain; undefined where nothing is said of one. */
export function chainOf(env: ChainVariables): ChainConfiguration | undefined {
  const { SOLANA_NETWORK, SOLANA_RPC_URL, SOLANA_WS_URL, FACILITATOR_KEYPAIR, SPLIT_KEYPAIR } = env;
  const [network] = SOLANA_NETWORK ?? [];
  if (network === undefined || FACILITATOR_KEYPAIR === undefined) return undefined;
  return hidden({
    network,
    rpcUrl: SOLANA_RPC_URL,
    wsUrl: SOLANA_WS_URL,
    keypair: FACILITATOR_KEYPAIR,
    splitKeypair: SPLIT_KEYPAIR,
    refunds: refundsOf(env),
  });
}

/** The others. Where nothing is said of them they have the keys of the first. */
export function otherChainsOf(
  env: ChainVariables,
  first: ChainConfiguration,
): readonly ChainConfiguration[] | undefined {
  if ((env.SOLANA_NETWORK?.length ?? 0) < 2) return undefined;
  return (env.SOLANA_NETWORK ?? []).slice(1).map((network) => {
    const { keypair = first.keypair, ...own } = ownChainOf(env, network);
    return hidden({ ...own, keypair, splitKeypair: first.splitKeypair, refunds: first.refunds });
  });
}

/** Providers put keys into their addresses. */
function hidden(chain: ChainConfiguration): ChainConfiguration {
  return withHidden(chain, ['keypair', 'splitKeypair', 'refunds', 'rpcUrl', 'wsUrl']);
}
