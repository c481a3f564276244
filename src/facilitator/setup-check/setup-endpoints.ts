import { GENESIS_HASHES } from '../../protocol/networks/networks.js';
import { NETWORK_IDS, type NetworkId } from '../../protocol/types.js';
import { probeTransaction } from '../../solana/building/probe-transaction.js';
import { socketFault } from '../../solana/confirmation/socket-probe.js';
import { type LaggingNode, RpcError, type SolanaNode, type SolanaRpc } from '../../solana/rpc/rpc.js';
import { type SetupFinding, setupError, setupWarning } from '../setup/setup-finding.js';

/** The chain as it is set up. */
export interface EndpointParts {
  readonly network: NetworkId;
  readonly rpc: Pick<SolanaRpc, 'nodes' | 'lagging'>;
  /** A wallet that can pay for a transaction, for a simulation; without it none is made. */
  readonly feePayer?: string;
}

/** What was found of the endpoints. */
export interface EndpointCheck {
  /** Whether one of them answers, and all that do belong to the network, so that the chain can be asked further. */
  readonly usable: boolean;
  readonly findings: readonly SetupFinding[];
}

const SOCKET_TIMEOUT_MS = 5_000;

/** Asks each endpoint for itself whether it answers, which cluster it belongs to, and whether it simulates as is needed. */
export async function checkEndpoints({ network, rpc, feePayer }: EndpointParts): Promise<EndpointCheck> {
  const nodes = rpc.nodes ?? [];
  const seen = await Promise.all(nodes.map(async (node) => ({ node, ...(await askCluster(node)) })));
  const reached = seen.filter(({ fault }) => fault === undefined);
  const unreachable = seen.flatMap(({ node, fault }) =>
    fault === undefined ? [] : [unreachableFinding(node.host, fault, reached.length > 0)],
  );
  const elsewhere = reached.flatMap(({ node, hash }) =>
    hash === undefined || hash === GENESIS_HASHES[network] ? [] : [elsewhereFinding(node.host, hash, network)],
  );
  const simulating = await Promise.all(reached.map(({ node }) => checkSimulation(node, feePayer)));
  const lagging = (await rpc.lagging?.()) ?? [];
  return {
    usable: reached.length > 0 && elsewhere.length === 0,
    findings: [...unreachable, ...elsewhere, ...lagging.map(behindFinding), ...simulating.flat()],
  };
}

/** Whether confirmations can be pushed. */
export async function checkSocket(wsUrl: string | undefined, signal?: AbortSignal): Promise<readonly SetupFinding[]> {
  if (wsUrl === undefined) return [];
  const fault = await socketFault(wsUrl, SOCKET_TIMEOUT_MS, signal);
  if (fault === undefined) return [];
  const { host } = new URL(wsUrl);
  const finding = setupWarning({
    code: 'websocket_unreachable',
    about: host,
    detail: `the WebSocket ${host} takes no subscriptions (${fault}); confirmations are polled, which is slower and costs more calls`,
    fix: 'set wsUrl (SOLANA_WS_URL) to the wss:// address of your RPC provider, or leave it out',
  });
  return [finding];
}

/** A node's own refusal is a response, and one that does not tell its cluster is not blamed. */
async function askCluster(node: SolanaNode): Promise<{ readonly hash?: string; readonly fault?: string }> {
  try {
    return { hash: await node.getGenesisHash() };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return error.failure === 'answer' ? {} : { fault: error.message };
  }
}

function unreachableFinding(host: string, fault: string, isOneOfSeveral: boolean): SetupFinding {
  const finding = {
    code: 'rpc_unreachable' as const,
    about: host,
    detail: `the Solana RPC cannot be asked: ${fault}`,
    fix: 'set rpcUrl (SOLANA_RPC_URL) to an address of your RPC provider that answers, with its key',
  };
  return isOneOfSeveral ? setupWarning(finding) : setupError(finding);
}

function behindFinding({ host, slotsBehind }: LaggingNode): SetupFinding {
  return setupWarning({
    code: 'rpc_behind',
    about: host,
    detail: `the Solana RPC ${host} is ${slotsBehind} slots behind the best of the endpoints; the others are asked instead`,
    fix: 'see what its provider says, or set rpcUrl (SOLANA_RPC_URL) to endpoints that keep up',
  });
}

/** Nothing follows from a simulation that fails: the fee payer may be empty. */
async function checkSimulation(node: SolanaNode, feePayer: string | undefined): Promise<readonly SetupFinding[]> {
  if (feePayer === undefined) return [];
  const options = { commitment: 'confirmed', innerInstructions: true, replaceBlockhash: true } as const;
  const simulation = await node.simulateTransaction(probeTransaction(feePayer), options).catch(failed);
  const isSilent = simulation?.err === null && simulation.innerInstructions === undefined;
  return isSilent ? [noInnerInstructions(node.host)] : [];
}

function failed(error: unknown): undefined {
  if (error instanceof RpcError) return undefined;
  throw error;
}

function elsewhereFinding(host: string, hash: string, network: NetworkId): SetupFinding {
  const other = NETWORK_IDS.find((id) => GENESIS_HASHES[id] === hash);
  return setupError({
    code: 'wrong_network',
    about: host,
    detail: `the Solana RPC ${host} belongs to ${other ?? 'another cluster'}, and the network is ${network}`,
    fix: `set rpcUrl (SOLANA_RPC_URL) to an RPC of ${network}${other === undefined ? '' : `, or network (SOLANA_NETWORK) to ${other}`}`,
  });
}

function noInnerInstructions(host: string): SetupFinding {
  return setupWarning({
    code: 'no_inner_instructions',
    about: host,
    detail: `the Solana RPC ${host} does not list innerInstructions when it simulates, so that payments which Phantom or Solflare guard get a 503`,
    fix: 'set rpcUrl (SOLANA_RPC_URL) to a provider whose simulateTransaction answers innerInstructions, as Agave does',
  });
}
