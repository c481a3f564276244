import { readInstruction } from './instructions.js';
import type { LandedTransaction } from './landed-transaction.js';
import { NATIVE_SOL } from './programs.js';

/** Money that moved from one wallet to another. */
export interface PlainTransfer {
  /** Mint, base58; {@link NATIVE_SOL} for SOL. */
  readonly asset: string;
  /** Atomic units. */
  readonly amount: bigint;
  readonly decimals: number;
  /** Wallet that paid, base58. */
  readonly from: string;
  /** Wallet that received, base58. */
  readonly to: string;
}

const SOL_DECIMALS = 9;

/** Every transfer of SOL and tokens in a transaction, top-level and inner, in the order in which they happened. */
export function plainTransfers({ instructions, tokenAccounts }: LandedTransaction): readonly PlainTransfer[] {
  return instructions.flatMap((instruction): PlainTransfer[] => {
    const plain = readInstruction(instruction);
    if (plain.kind === 'sol-transfer') {
      const { lamports, source, destination } = plain;
      return [{ asset: NATIVE_SOL, amount: lamports, decimals: SOL_DECIMALS, from: source, to: destination }];
    }
    if (plain.kind !== 'token-transfer' && plain.kind !== 'unchecked-token-transfer') return [];
    const source = tokenAccounts.get(plain.source);
    const destination = tokenAccounts.get(plain.destination);
    const account = source ?? destination;
    if (account === undefined) return [];
    return [
      {
        asset: account.mint,
        amount: plain.amount,
        decimals: account.decimals,
        from: source?.owner ?? plain.authority,
        to: destination?.owner ?? plain.destination,
      },
    ];
  });
}
