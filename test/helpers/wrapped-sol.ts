import { MINT_SIZE, MintLayout } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import type { AccountState } from '../../src/sandbox/runtime.js';
import { PROGRAMS } from '../../src/solana/programs.js';

/** The mint of wrapped SOL, on every cluster. */
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';

/** Every cluster has it from its first block; the sandbox has only the tokens that it gives away. */
export function placeWrappedSol({ setAccount }: { setAccount(address: string, state: AccountState): void }): void {
  const data = Buffer.alloc(MINT_SIZE);
  const none = { mintAuthorityOption: 0, mintAuthority: PublicKey.default } as const;
  const frozenByNobody = { freezeAuthorityOption: 0, freezeAuthority: PublicKey.default } as const;
  MintLayout.encode({ ...none, ...frozenByNobody, supply: 0n, decimals: 9, isInitialized: true }, data);
  setAccount(WRAPPED_SOL, { lamports: 1_000_000_000n, owner: PROGRAMS.token, data, executable: false });
}
