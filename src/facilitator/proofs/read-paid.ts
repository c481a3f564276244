import { moneyOf, SOL_MINT } from '../../protocol/networks/tokens.js';
import { REASONS, type Reason } from '../../protocol/reasons.js';
import { readLandedPayment } from '../../solana/landed/landed-payment.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { RequiredTransfers } from '../../solana/rules/required-transfers.js';
import { NATIVE_SOL, PROGRAMS } from '../../solana/transaction/programs.js';

/** Whether a landed transaction pays what was asked for: who paid, and in what, native or wrapped SOL where it is SOL. */
export type PaidAs =
  | { readonly ok: true; readonly payer: string; readonly asset: string }
  | { readonly ok: false; readonly reason: Reason; readonly message: string };

const WRAPPED = { asset: SOL_MINT, tokenProgram: PROGRAMS.token } as const;
const NATIVE = { asset: NATIVE_SOL, tokenProgram: NATIVE_SOL } as const;

/**
 * Reads a landed transaction against what was asked for. SOL is the same money whether it is wrapped or not, so long as all of
 * a payment is one of both: what was paid is named as it was paid. What pays in both ways is read as it was asked for, and what
 * is told of a failure is told of that as well. Pure.
 */
export function readPaid(landed: LandedTransaction, demand: RequiredTransfers): PaidAs {
  const given = readAs(landed, demand);
  if (given.ok || moneyOf(demand.asset) !== SOL_MINT) return given;
  const other = readAs(landed, demandIn(demand, demand.asset === NATIVE_SOL ? SOL_MINT : NATIVE_SOL));
  if (other.ok) return other;
  return isMixed(landed, demand) ? refused('invalid_transfer_mixed_sol') : given;
}

/** What was asked for, as it was paid: SOL in the form that is named, and everything else as it is. */
export function demandIn(demand: RequiredTransfers, asset: string): RequiredTransfers {
  if (moneyOf(demand.asset) !== SOL_MINT || moneyOf(asset) !== SOL_MINT) return demand;
  return { ...demand, ...(asset === NATIVE_SOL ? NATIVE : WRAPPED) };
}

function readAs(landed: LandedTransaction, demand: RequiredTransfers): PaidAs {
  const paid = readLandedPayment(landed, demand);
  return paid.ok ? { ok: true, payer: paid.payer, asset: demand.asset } : refused(paid.reason);
}

/** Whether each recipient is paid by itself, some in native SOL and some in wrapped. */
function isMixed(landed: LandedTransaction, demand: RequiredTransfers): boolean {
  const isPaid = (leg: RequiredTransfers['legs'][number], asset: string): boolean =>
    readAs(landed, { ...demandIn(demand, asset), legs: [leg], reference: undefined }).ok;
  return demand.legs.length > 1 && demand.legs.every((leg) => isPaid(leg, SOL_MINT) || isPaid(leg, NATIVE_SOL));
}

function refused(reason: Reason): PaidAs {
  return { ok: false, reason, message: REASONS[reason] };
}
