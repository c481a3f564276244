import { createSyncNativeInstruction, MINT_SIZE, MintLayout } from '@solana/spl-token';
import { type Keypair, PublicKey } from '@solana/web3.js';
import { SOL_MINT } from '../../src/protocol/tokens.js';
import type { AccountState } from '../../src/sandbox/runtime.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { PROGRAMS } from '../../src/solana/programs.js';
import { landAs } from './land-as.js';

/** Every cluster has the mint from its first block; the sandbox has only the tokens that it gives away. */
export function placeWrappedSol({ setAccount }: { setAccount(address: string, state: AccountState): void }): void {
  const data = Buffer.alloc(MINT_SIZE);
  const none = { mintAuthorityOption: 0, mintAuthority: PublicKey.default } as const;
  const frozenByNobody = { freezeAuthorityOption: 0, freezeAuthority: PublicKey.default } as const;
  MintLayout.encode({ ...none, ...frozenByNobody, supply: 0n, decimals: 9, isInitialized: true }, data);
  setAccount(SOL_MINT, { lamports: 1_000_000_000n, owner: PROGRAMS.token, data, executable: false });
}

/** Gives a wallet wrapped SOL, as much in lamports; it signs for what that takes, and pays the fee. */
export async function giveWrappedSol(
  stand: { readonly sandbox: Sandbox },
  wallet: Keypair,
  lamports: bigint,
): Promise<void> {
  const { sandbox } = stand;
  const account = sandbox.fundToken(wallet.publicKey.toBase58(), SOL_MINT, 0n);
  sandbox.airdrop(account, lamports);
  await landAs(stand, wallet, createSyncNativeInstruction(new PublicKey(account)));
}
