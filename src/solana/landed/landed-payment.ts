import type { Reason } from '../../protocol/reasons.js';
import type { LandedTransaction } from '../rpc/landed-transaction.js';
import {
  isPaidFor,
  matchLegs,
  movementsOf,
  orMoreFor,
  type RequiredTransfers,
  receivingAccount,
} from '../rules/required-transfers.js';
import { readInstruction } from '../transaction/instructions.js';
import { NATIVE_SOL, PROGRAMS } from '../transaction/programs.js';
import { arrivedOf } from './landed-arrivals.js';
import { keeperOf, moneyGainedBy } from './landed-money.js';

/** What a landed transaction is as a payment. */
export type LandedPayment =
  | { readonly ok: true; readonly payer: string }
  | { readonly ok: false; readonly reason: Reason };

/**
 * Whether a transaction that has landed, whoever built and sent it, pays a payment request: it names the reference, carries
 * the memo, transfers every leg, at the top level or inside, and the recipients hold the amounts after it, in the account that
 * was paid as over all that they have. The last is what no look at the instructions can tell: a program, or a delegate, can take
 * the money away in the same transaction. A leg is what arrives, where the mint keeps a fee; it may be more than was asked for
 * where the transfer names the reference.
 *
 * The payer is who signed for the money: the authority of the transfer, be it a delegate, a multisig account or a program's. The
 * runtime moves nothing without it, so it needs no proof beside the transfer that landed. Who owns the account that was paid
 * from is no proof: a transaction can give its accounts to anybody.
 */
export function readLandedPayment(landed: LandedTransaction, demand: RequiredTransfers): LandedPayment {
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
  const sent = movementsOf(instructions, demand);
  const mayKeepFee = demand.tokenProgram === PROGRAMS.token2022;
  const arrived = mayKeepFee ? sent.map((it) => arrivedOf(it, sent, landed)) : sent;
  const paid = matchLegs(arrived, demand, orMoreFor(reference)) ?? [];
  const [first] = paid;
  if (first === undefined) return { ok: false, reason: 'invalid_transfer_leg_missing' };
  const signers = landed.accounts.slice(0, landed.requiredSignatures);
  if (!isPaidFor(paid, demand, signers)) return { ok: false, reason: 'invalid_transfer_reference_misplaced' };
  if (!allReceived(landed, demand)) return { ok: false, reason: 'invalid_transfer_not_received' };
  return { ok: true, payer: first.authority };
}

function allReceived(landed: LandedTransaction, demand: RequiredTransfers): boolean {
  const owed = new Map<string, bigint>();
  for (const { recipient, amount } of demand.legs) owed.set(recipient, (owed.get(recipient) ?? 0n) + amount);
  return [...owed].every(([recipient, amount]) => {
    // What is not told exactly is believed to the instructions.
    const gained = moneyGainedBy(landed, recipient, demand.asset) ?? amount;
    return gained >= amount && (demand.asset === NATIVE_SOL || gainOf(landed, recipient, demand) >= amount);
  });
}

/** What the account that a recipient is paid in holds more. */
function gainOf(landed: LandedTransaction, recipient: string, demand: RequiredTransfers): bigint {
  const address = receivingAccount(recipient, demand);
  const account = landed.tokenAccounts.get(address);
  if (account === undefined || keeperOf(landed, address) !== recipient) return 0n;
  return account.after - account.before;
}
