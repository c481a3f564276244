import type { Facilitator } from '../facilitator/types.js';
import type { NetworkId } from '../protocol/types.js';

/** A network as `GET /supported` shows it (interface-specification.md). */
export interface NetworkRecord {
  readonly name: string;
  readonly type: 'svm';
  readonly tokens: readonly string[];
  readonly block_time?: string;
  readonly finality?: string;
}

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
}: Pick<Facilitator, 'network' | 'tokens'>): Readonly<Record<string, NetworkRecord>> {
  const symbols = new Set(['SOL', ...tokens.map(({ symbol }) => symbol)]);
  const first = CONTRACT_ORDER.filter((it) => symbols.has(it));
  const rest = [...symbols].filter((it) => !CONTRACT_ORDER.includes(it));
  const record: NetworkRecord = { name: NAMES[network], type: 'svm', tokens: [...first, ...rest] };
  return { [network]: network === 'solana' ? { ...record, ...MAINNET_TIMES } : record };
}
