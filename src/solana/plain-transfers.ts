import { type PlainInstruction, readInstruction } from './instructions.js';
import type { Change, LandedTransaction } from './landed-transaction.js';
import { NATIVE_SOL, PROGRAMS } from './programs.js';

/** Money that moved from one wallet to another. */
export interface PlainTransfer {
  /** Mint, base58; {@link NATIVE_SOL} for SOL. */
  readonly asset: string;
  /** Atomic units that arrived: a mint that keeps a fee of its transfers makes it less than was sent. */
  readonly amount: bigint;
  readonly decimals: number;
  /** Wallet that paid, base58. */
  readonly from: string;
  /** Wallet that received, base58. */
  readonly to: string;
}

type TokenMovement = Extract<PlainInstruction, { kind: 'token-transfer' | 'unchecked-token-transfer' }>;

const SOL_DECIMALS = 9;

/** Every transfer of SOL and tokens in a transaction, top-level and inner, in the order in which they happened. */
export function plainTransfers(landed: LandedTransaction): readonly PlainTransfer[] {
  const instructions = landed.instructions.map(readInstruction);
  const moves = instructions.filter(isTokenMovement);
  return instructions.flatMap((plain): PlainTransfer[] => {
    if (plain.kind === 'sol-transfer') {
      const { lamports, source, destination } = plain;
      return [{ asset: NATIVE_SOL, amount: lamports, decimals: SOL_DECIMALS, from: source, to: destination }];
    }
    return isTokenMovement(plain) ? tokenTransfer(plain, moves, landed) : [];
  });
}

function isTokenMovement(plain: PlainInstruction): plain is TokenMovement {
  return plain.kind === 'token-transfer' || plain.kind === 'unchecked-token-transfer';
}

function tokenTransfer(
  move: TokenMovement,
  moves: readonly TokenMovement[],
  { tokenAccounts }: LandedTransaction,
): PlainTransfer[] {
  const source = tokenAccounts.get(move.source);
  const destination = tokenAccounts.get(move.destination);
  const account = source ?? destination;
  if (account === undefined) return [];
  return [
    {
      asset: account.mint,
      amount: arrived(move, moves, destination),
      decimals: account.decimals,
      from: source?.owner ?? move.authority,
      to: destination?.owner ?? move.destination,
    },
  ];
}

/** Only Token-2022 has fees, and only where nothing else moved does the account's gain tell them. */
function arrived(move: TokenMovement, moves: readonly TokenMovement[], destination: Change | undefined): bigint {
  const others = moves.filter((it) => it !== move && touches(it, move.destination));
  if (move.program !== PROGRAMS.token2022 || destination === undefined || others.length > 0) return move.amount;
  const gained = destination.after - destination.before;
  return gained > 0n && gained < move.amount ? gained : move.amount;
}

function touches({ source, destination }: TokenMovement, account: string): boolean {
  return source === account || destination === account;
}
