import { didYouMean } from '../../lib/did-you-mean.js';
import { shown } from '../../lib/parsed.js';
import { NETWORK_IDS, type NetworkId } from '../types.js';
import { networkFrom } from './networks.js';

/** What clusters are called elsewhere: by Solana's own tools, by wallets, by other x402 software. */
const OTHER_NAMES: Readonly<Record<NetworkId, readonly string[]>> = {
  solana: ['mainnet', 'mainnet-beta', 'solana-mainnet', 'solana-mainnet-beta'],
  'solana-devnet': ['devnet'],
  'solana-testnet': ['testnet'],
};

const ALL = inSentence(NETWORK_IDS.map((id) => `"${id}"`));

/** The ids of the networks as they stand in a help text: `solana, solana-devnet or solana-testnet`. */
export const NETWORK_LIST = inSentence(NETWORK_IDS);

/** What the name of a network must be, and which was probably meant by this one: the end of a sentence. */
export function networkWanted(given: unknown): string {
  if (typeof given !== 'string') return ALL;
  const name = given
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_:]+/g, '-');
  const other = NETWORK_IDS.find((id) => OTHER_NAMES[id].includes(name));
  const meant = other ?? networkFrom(given.trim()) ?? didYouMean(name, NETWORK_IDS);
  return `${ALL}, not ${shown(given)}${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}

function inSentence(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
