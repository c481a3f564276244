import { z } from 'zod';
import { networkOption } from '../../facilitator/facilitator-options.js';
import { NETWORK_IDS, type NetworkId } from '../../protocol/types.js';
import { keyTexts } from './configuration-files.js';

/** What of a chain is its own where a server is on several. */
export interface OwnChain {
  readonly network: NetworkId;
  readonly rpcUrl: readonly string[] | undefined;
  readonly wsUrl: string | undefined;
  /** Default: the key of the first network. */
  readonly keypair: readonly string[] | undefined;
}

/** How the variables of each network begin where it is not the first one. */
const PREFIXES: Readonly<Record<NetworkId, string>> = {
  solana: 'SOLANA_MAINNET',
  'solana-devnet': 'SOLANA_DEVNET',
  'solana-testnet': 'SOLANA_TESTNET',
};

const TWICE = 'a list in which each network stands once';

/** A text for the first network that names its variables, as one for a further network: with the variables of that one. */
export function withVariablesOf(network: NetworkId, text: string): string {
  return text.replaceAll(/\bSOLANA_(?=(RPC|WS)_URL\b)/g, `${PREFIXES[network]}_`);
}

/** `SOLANA_NETWORK`: one or several, separated by commas; the first is the default. */
export const listOfNetworks = z
  .string()
  .max(200, 'a list of networks')
  .transform((text) => text.split(',').map((it) => it.trim()))
  .pipe(z.array(networkOption))
  .refine((networks) => new Set(networks).size === networks.length, TWICE);

/** Schema of a list of http(s) addresses. */
export const listOfUrls = z
  .string()
  .transform((text) => text.split(',').map((it) => it.trim()))
  .pipe(z.array(z.url({ protocol: /^https?$/, error: 'a list of http(s) addresses' })));

/** Schema of the address of a WebSocket. */
export const wsUrl = z.url({ protocol: /^wss?$/, error: 'a ws(s) address' });

/** The variables of networks that are not the first one. */
export const NETWORK_VARIABLES = {
  SOLANA_MAINNET_RPC_URL: listOfUrls.optional(),
  SOLANA_MAINNET_WS_URL: wsUrl.optional(),
  SOLANA_MAINNET_FACILITATOR_KEYPAIR: keyTexts.optional(),
  SOLANA_DEVNET_RPC_URL: listOfUrls.optional(),
  SOLANA_DEVNET_WS_URL: wsUrl.optional(),
  SOLANA_DEVNET_FACILITATOR_KEYPAIR: keyTexts.optional(),
  SOLANA_TESTNET_RPC_URL: listOfUrls.optional(),
  SOLANA_TESTNET_WS_URL: wsUrl.optional(),
  SOLANA_TESTNET_FACILITATOR_KEYPAIR: keyTexts.optional(),
};

/** Those of them that hold a key. */
export const NETWORK_KEYS: readonly string[] = NETWORK_IDS.map((id) => `${PREFIXES[id]}_FACILITATOR_KEYPAIR`);

const variables = z.object(NETWORK_VARIABLES);
/** Those variables as they were read. */
export type NetworkVariables = z.output<typeof variables>;

/** What is wrong with variables that were read: they are of a network that is the first one, or that is not served. */
export function networkFaults(
  env: Readonly<Record<string, string | undefined>>,
  [first, ...others]: readonly NetworkId[],
): readonly string[] {
  return NETWORK_IDS.filter((id) => !others.includes(id)).flatMap((id) => {
    const given = Object.keys(NETWORK_VARIABLES).filter(
      (name) => name.startsWith(`${PREFIXES[id]}_`) && env[name] !== undefined,
    );
    return given.map((name) => {
      const own = name.replace(PREFIXES[id], 'SOLANA').replace('SOLANA_FACILITATOR', 'FACILITATOR');
      return id === first
        ? `${name} says nothing of the first network: write ${own}`
        : `${name} says nothing while ${id} is not served: add it to SOLANA_NETWORK, behind the first`;
    });
  });
}

/** What variables that were read say of a network that is not the first one. */
export function ownChainOf(env: NetworkVariables, network: NetworkId): OwnChain {
  switch (network) {
    case 'solana':
      return {
        network,
        rpcUrl: env.SOLANA_MAINNET_RPC_URL,
        wsUrl: env.SOLANA_MAINNET_WS_URL,
        keypair: env.SOLANA_MAINNET_FACILITATOR_KEYPAIR,
      };
    case 'solana-devnet':
      return {
        network,
        rpcUrl: env.SOLANA_DEVNET_RPC_URL,
        wsUrl: env.SOLANA_DEVNET_WS_URL,
        keypair: env.SOLANA_DEVNET_FACILITATOR_KEYPAIR,
      };
    case 'solana-testnet':
      return {
        network,
        rpcUrl: env.SOLANA_TESTNET_RPC_URL,
        wsUrl: env.SOLANA_TESTNET_WS_URL,
        keypair: env.SOLANA_TESTNET_FACILITATOR_KEYPAIR,
      };
  }
}
