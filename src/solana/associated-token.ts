import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';

// A derivation costs several hashes and curve checks; sellers and tokens are few.
const derived = new LRUCache<string, string>({ max: 10_000 });

/** The associated token account of a wallet for a mint under a token program. All addresses base58. */
export function associatedTokenAddress(owner: string, mint: string, tokenProgram: string): string {
  const key = `${owner}:${mint}:${tokenProgram}`;
  let address = derived.get(key);
  if (address === undefined) {
    const account = getAssociatedTokenAddressSync(
      new PublicKey(mint),
      new PublicKey(owner),
      true,
      new PublicKey(tokenProgram),
    );
    address = account.toBase58();
    derived.set(key, address);
  }
  return address;
}
