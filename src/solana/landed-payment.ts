import type { Reason } from '../protocol/reasons.js';
import { readInstruction } from './instructions.js';
import type { LandedTransaction } from './landed-transaction.js';
import { NATIVE_SOL } from './programs.js';
import { matchLegs, movementsOf, receivingAccount, type TransferDemand } from './transfer-demand.js';

/** What a landed transaction is as a payment. */
export type LandedPayment =
  | { readonly ok: true; readonly payer: string }
  | { readonly ok: false; readonly reason: Reason };

/**
 * Whether a transaction that has landed, whoever built and sent it, pays a payment request: it names the reference, carries
 * the memo, transfers every leg, at the top level or inside, and the recipients hold the amounts after it. The last is
 * what no look at the instructions can tell: a program, or a delegate, can take the money away in the same transaction.
 */
export function readLandedPayment(landed: LandedTransaction, demand: TransferDemand): LandedPayment {
  if (landed.err !== null) return { ok: false, reason: 'invalid_exact_svm_transaction_failed' };
  const { reference } = demand;
  if (reference !== undefined && !landed.accounts.includes(reference)) {
    return { ok: false, reason: 'invalid_transfer_reference_missing' };
  }
  const instructions = landed.instructions.map(readInstruction);
  const { memo } = demand;
  if (memo !== undefined && !instructions.some((it) => it.kind === 'memo' && Buffer.from(memo).equals(it.data))) {
    return { ok: false, reason: 'invalid_exact_svm_payload_memo_mismatch' };
  }
  const paid = matchLegs(movementsOf(instructions, demand), demand);
  const [first] = paid ?? [];
  if (first === undefined) return { ok: false, reason: 'invalid_transfer_leg_missing' };
  if (!allReceived(landed, demand)) return { ok: false, reason: 'invalid_transfer_not_received' };
  return { ok: true, payer: landed.tokenAccounts.get(first.source)?.owner ?? first.authority };
}

function allReceived(landed: LandedTransaction, demand: TransferDemand): boolean {
  const owed = new Map<string, bigint>();
  for (const { recipient, amount } of demand.legs) owed.set(recipient, (owed.get(recipient) ?? 0n) + amount);
  return [...owed].every(([recipient, amount]) => {
    const gained = gain(landed, receivingAccount(recipient, demand), demand);
    return gained === undefined || gained >= amount;
  });
}

/**
 * What an account holds more after the transaction; undefined when that is not known exactly. One that paid the network fee
 * itself has received it all the same.
 */
function gain(landed: LandedTransaction, account: string, { asset }: TransferDemand): bigint | undefined {
  if (asset !== NATIVE_SOL) {
    const { before, after } = landed.tokenAccounts.get(account) ?? { before: 0n, after: 0n };
    return after - before;
  }
  const change = landed.lamports.get(account);
  const fee = landed.accounts[0] === account ? landed.feeLamports : 0n;
  return change && change.after - change.before + fee;
}
