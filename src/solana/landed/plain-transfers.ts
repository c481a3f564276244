import type { LandedTransaction } from '../rpc/landed-transaction.js';
import { type TokenMove, tokenMoveOf } from '../rules/required-transfers.js';
import { type PlainInstruction, readInstruction, type SolTransfer } from '../transaction/instructions.js';
import { NATIVE_SOL, PROGRAMS } from '../transaction/programs.js';
import { arrivedOf } from './landed-arrivals.js';
import { keeperOf } from './landed-money.js';

/** Money that an instruction moved. What stayed where it went is another thing (landed-money.ts). */
export interface PlainTransfer {
  /** Mint, base58; {@link NATIVE_SOL} for SOL. */
  readonly asset: string;
  /** Atomic units that arrived: a mint that keeps a fee of its transfers makes it less than was sent. */
  readonly amount: bigint;
  readonly decimals: number;
  /** Who signed for it, base58: the owner of what it was taken from, a delegate, a multisig account, a program's address. */
  readonly from: string;
  /** Wallet that received, base58; the token account where that does not stay a wallet's, or is told of no more. */
  readonly to: string;
}

const SOL_DECIMALS = 9;

/** Every transfer of SOL and tokens in a transaction, top-level and inner, in the order in which they happened. */
export function plainTransfers(landed: LandedTransaction): readonly PlainTransfer[] {
  const found = landed.instructions.map(readInstruction).flatMap((it) => (isSol(it) ? it : (tokenMoveOf(it) ?? [])));
  const moves = found.filter((it): it is TokenMove => !isSol(it));
  return found.flatMap((it) => (isSol(it) ? [solTransfer(it)] : tokenTransfer(it, moves, landed)));
}

function isSol(move: PlainInstruction | TokenMove): move is SolTransfer {
  return 'kind' in move && move.kind === 'sol-transfer';
}

function solTransfer({ lamports, source, destination }: SolTransfer): PlainTransfer {
  return { asset: NATIVE_SOL, amount: lamports, decimals: SOL_DECIMALS, from: source, to: destination };
}

function tokenTransfer(move: TokenMove, moves: readonly TokenMove[], landed: LandedTransaction): PlainTransfer[] {
  const { tokenAccounts } = landed;
  const account = tokenAccounts.get(move.source) ?? tokenAccounts.get(move.destination);
  if (account === undefined) return [];
  const { amount } = move.program === PROGRAMS.token2022 ? arrivedOf(move, moves, landed) : move;
  return [
    {
      asset: move.mint ?? account.mint,
      amount,
      decimals: account.decimals,
      from: move.authority,
      to: keeperOf(landed, move.destination) ?? move.destination,
    },
  ];
}
