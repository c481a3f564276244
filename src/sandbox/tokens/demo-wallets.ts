import { createHash } from 'node:crypto';
import { Keypair } from '@solana/web3.js';

/** Number of demo wallets. */
export const DEMO_WALLETS = 5;

/**
 * A demo wallet, the same on every machine: its Ed25519 seed is the SHA-256 of the ASCII text
 * `tollhouse sandbox demo wallet <index>`. Everybody knows these keys: for development only, never for money.
 *
 * @param index - from 0; the sandbox funds the first {@link DEMO_WALLETS}
 */
export function demoWallet(index: number): Keypair {
  return Keypair.fromSeed(createHash('sha256').update(`tollhouse sandbox demo wallet ${index}`).digest());
}
