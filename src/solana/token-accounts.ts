import { associatedTokenAddress } from './associated-token.js';
import { isTokenProgram } from './programs.js';
import type { SolanaRpc } from './rpc.js';

/** What a payer must know of a mint. */
export interface MintFacts {
  readonly decimals: number;
  /** Token program that owns it, base58. */
  readonly program: string;
}

// Layouts of the token programs, the same in both: amount of an account, decimals of a mint.
const AMOUNT_OFFSET = 64;
const DECIMALS_OFFSET = 44;
const MINT_BYTES = 82;

/** Reads a mint from the chain; undefined when the address holds none. */
export async function readMint(mint: string, rpc: SolanaRpc): Promise<MintFacts | undefined> {
  const [account] = await rpc.getAccounts([mint], 'confirmed');
  if (!account || !isTokenProgram(account.owner) || account.data.length < MINT_BYTES) return undefined;
  return { decimals: account.data[DECIMALS_OFFSET] ?? 0, program: account.owner };
}

/** Atomic amounts in the associated token accounts of several owners, in their order; undefined where there is none. */
export async function readTokenBalances(
  owners: readonly string[],
  mint: string,
  program: string,
  rpc: SolanaRpc,
): Promise<readonly (bigint | undefined)[]> {
  const addresses = owners.map((owner) => associatedTokenAddress(owner, mint, program));
  const accounts = await rpc.getAccounts(addresses, 'confirmed');
  return accounts.map((account) => {
    if (account === null || account.data.length < AMOUNT_OFFSET + 8) return undefined;
    const { buffer, byteOffset, byteLength } = account.data;
    return new DataView(buffer, byteOffset, byteLength).getBigUint64(AMOUNT_OFFSET, true);
  });
}
