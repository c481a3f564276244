import type { Facilitator } from '../../facilitator/types.js';
import type { NetworkId } from '../../protocol/types.js';
import type { Answer } from '../framework/response.js';
import type { networksResponse } from '../framework/service-responses.js';

const NAMES: Readonly<Record<NetworkId, string>> = {
  solana: 'Solana Mainnet',
  'solana-devnet': 'Solana Devnet',
  'solana-testnet': 'Solana Testnet',
};

/** Mainnet's own times, which the contract shows for `solana` only. */
const MAINNET_TIMES = { block_time: '~210ms', finality: '~7s' };

/** Symbols in the contract's order; other tokens follow. */
const CONTRACT_ORDER = ['SOL', 'USDC', 'USDT'];

/** The networks that this facilitator serves, by id. */
export function supportedNetworks({
  network,
  tokens,
}: Pick<Facilitator, 'network' | 'tokens'>): Answer<typeof networksResponse> {
  const symbols = new Set(['SOL', ...tokens.map(({ symbol }) => symbol)]);
  const first = CONTRACT_ORDER.filter((it) => symbols.has(it));
  const rest = [...symbols].filter((it) => !CONTRACT_ORDER.includes(it));
  const record = { name: NAMES[network], type: 'svm' as const, tokens: [...first, ...rest] };
  return { [network]: network === 'solana' ? { ...record, ...MAINNET_TIMES } : record };
}
