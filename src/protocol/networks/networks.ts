import type { Network } from '@x402/core/types';
import { NETWORK_IDS, type NetworkId } from '../types.js';

/** A Solana cluster by its CAIP-2 name, as x402 version 2 writes it. */
export type Caip2 = `solana:${string}`;

/** Hash of the first block of each cluster, base58; what `getGenesisHash` returns there. */
export const GENESIS_HASHES: Readonly<Record<NetworkId, string>> = {
  solana: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  'solana-devnet': 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  'solana-testnet': '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY',
};

/** CAIP-2 names a Solana chain by the first 32 characters of its genesis hash (namespaces/solana/caip2). */
const CAIP2_REFERENCE_LENGTH = 32;

const BY_NAME: ReadonlyMap<string, NetworkId> = new Map(
  NETWORK_IDS.flatMap((id) => [[id, id] as const, [toCaip2(id), id] as const]),
);

/** The CAIP-2 name of a network: `solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1` for devnet. */
export function toCaip2(id: NetworkId): Caip2 {
  return `solana:${GENESIS_HASHES[id].slice(0, CAIP2_REFERENCE_LENGTH)}`;
}

/** The name of a network in x402 version 1: its id, typed as the wire's (where every name passes for a CAIP-2 one). */
export function toV1Name(id: NetworkId): Network {
  const name: string = id;
  return name as Network;
}

/** The network that a text names, in CAIP-2 or by its version 1 name; undefined when it is none of ours. */
export function networkFrom(text: string): NetworkId | undefined {
  return BY_NAME.get(text);
}

/** What money is on a network: `live` on mainnet, `test` everywhere else. */
export type MoneyMode = 'live' | 'test';

/** What the money of a network is. */
export function modeOf(network: NetworkId): MoneyMode {
  return network === 'solana' ? 'live' : 'test';
}
