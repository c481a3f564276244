import type { LandedTransaction } from '../rpc/landed-transaction.js';
import type { Movement } from '../rules/required-transfers.js';

/**
 * A transfer of Token-2022 with the amount that arrived. Its mints may keep a fee that the instruction does not tell: what the
 * account holds more does, where nothing else moved in it.
 * @param moves - all transfers of the transaction, this one among them
 */
export function arrivedOf<M extends Movement>(
  move: M,
  moves: readonly Movement[],
  { tokenAccounts }: Pick<LandedTransaction, 'tokenAccounts'>,
): M {
  const destination = tokenAccounts.get(move.destination);
  if (destination === undefined || moves.some((it) => it !== move && touches(it, move.destination))) return move;
  const gained = destination.after - destination.before;
  return gained > 0n && gained < move.amount ? { ...move, amount: gained } : move;
}

function touches({ source, destination }: Movement, account: string): boolean {
  return source === account || destination === account;
}
