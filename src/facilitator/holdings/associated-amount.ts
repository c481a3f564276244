import type { LoadAccount } from '../../solana/accounts/account-batch.js';
import { tokenAccountOf } from '../../solana/accounts/token-accounts.js';
import { associatedTokenAddress } from '../../solana/transaction/associated-token.js';
import type { FindMint } from './mint-memory.js';

/** Atomic units of a mint in a wallet's associated token account. */
export async function associatedAmount(
  wallet: string,
  mint: string,
  { load, findMint }: { readonly load: LoadAccount; readonly findMint: FindMint },
): Promise<bigint> {
  const facts = await findMint(mint);
  if (facts === undefined) return 0n;
  const account = tokenAccountOf(await load(associatedTokenAddress(wallet, mint, facts.program)));
  // An associated account can be given away with all that is in it: its address stays, its owner does not.
  return account?.owner === wallet && account.mint === mint ? account.amount : 0n;
}
