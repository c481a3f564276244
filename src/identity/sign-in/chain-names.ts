import type { NetworkId } from '../../protocol/types.js';

/** The clusters as wallets read them in a message (Sign In With Solana, `chainId`). */
export const CHAIN_NAMES: Readonly<Record<NetworkId, string>> = {
  solana: 'mainnet',
  'solana-devnet': 'devnet',
  'solana-testnet': 'testnet',
};
