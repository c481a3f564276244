/** Addresses of the programs that a payment may call. */
export const PROGRAMS = {
  system: '11111111111111111111111111111111',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  token2022: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  associatedToken: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  computeBudget: 'ComputeBudget111111111111111111111111111111',
  memo: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  lighthouse: 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95',
} as const;

/** Whether an address is one of the two token programs. */
export function isTokenProgram(address: string): boolean {
  return address === PROGRAMS.token || address === PROGRAMS.token2022;
}

/** Stands for native SOL wherever a mint's address is asked for: the System Program's address. */
export const NATIVE_SOL = PROGRAMS.system;
