import { PublicKey } from '@solana/web3.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import { PROGRAMS } from './programs.js';

const ASSOCIATED_TOKEN_PROGRAM = new PublicKey(PROGRAMS.associatedToken);

// A derivation costs several hashes and curve checks; sellers and tokens are few.
const derived = boundedCache<string, string>({ max: 10_000 });

/** The associated token account of a wallet for a mint under a token program. All addresses base58. */
export function associatedTokenAddress(owner: string, mint: string, tokenProgram: string): string {
  const key = `${owner}:${mint}:${tokenProgram}`;
  let address = derived.get(key);
  if (address === undefined) {
    const seeds = [owner, tokenProgram, mint].map((it) => new PublicKey(it).toBytes());
    const [account] = PublicKey.findProgramAddressSync(seeds, ASSOCIATED_TOKEN_PROGRAM);
    address = account.toBase58();
    derived.set(key, address);
  }
  return address;
}

/** Whether an account is the associated token account of one of the keys, under either token program. */
export function isTokenAccountOf(keys: ReadonlySet<string>, account: string, mint: string): boolean {
  const programs = [PROGRAMS.token, PROGRAMS.token2022];
  return [...keys].some((key) => programs.some((program) => account === associatedTokenAddress(key, mint, program)));
}
