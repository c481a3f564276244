import { didYouMean } from '../../lib/did-you-mean.js';
import { shown } from '../../lib/parsed.js';
import type { NetworkId } from '../types.js';
import { NETWORK_IDS, networkFrom } from './networks.js';

/** What clusters are called elsewhere: by Solana's own tools, by wallets, by other x402 software. */
const OTHER_NAMES: Readonly<Record<string, NetworkId>> = {
  mainnet: 'solana',
  'mainnet-beta': 'solana',
  'solana-mainnet': 'solana',
  'solana-mainnet-beta': 'solana',
  devnet: 'solana-devnet',
  testnet: 'solana-testnet',
};

/** The ids of the networks as they may stand in a sentence. */
const ALL = '"solana", "solana-devnet" or "solana-testnet"';

/** What the name of a network must be, and which was probably meant by this one: the end of a sentence. */
export function networkWanted(given: unknown): string {
  if (typeof given !== 'string') return ALL;
  const name = given
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_:]+/g, '-');
  const other = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
  const meant = other ?? networkFrom(given.trim()) ?? didYouMean(name, NETWORK_IDS);
  return `${ALL}, not ${shown(given)}${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}
