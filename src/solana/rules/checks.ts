import type { Reason } from '../../protocol/reasons.js';
import type { Terms } from '../../protocol/types.js';
import { associatedTokenAddress, isTokenAccountOf } from '../transaction/associated-token.js';
import type { TokenTransfer } from '../transaction/instructions.js';
import type { DecodedTransaction } from '../transaction/transaction.js';
import type { Check, CheckPolicy, RuleSubject } from './rules.js';
import * as rules from './rules.js';

/** What a transaction that passed all checks does. */
export interface CheckedPayment {
  /** The wallet that pays, base58. */
  readonly payer: string;
  readonly transfer: TokenTransfer;
}

/** The verdict on a transaction: what it pays, or the first rule that it breaks. */
export type CheckResult =
  | { readonly ok: true; readonly payment: CheckedPayment }
  | { readonly ok: false; readonly reason: Reason; readonly message: string; readonly payer?: string };

/** What the rules of the scheme `exact` look at. */
export interface Subject extends RuleSubject {
  readonly terms: Terms;
  readonly transfers: readonly TokenTransfer[];
}

const MAX_INSTRUCTIONS = 12;

/**
 * The rules of the scheme `exact` on Solana, in the order in which they are applied: first what makes the rest readable,
 * then what protects our keys, then what the seller is owed, and the signature, which costs most, last. Those that
 * payment requests have as well are in rules.ts, and their own list is in native-checks.ts: a new rule may belong in both.
 */
export const CHECKS: readonly Check<Subject>[] = [
  {
    name: 'scheme is exact',
    run: ({ terms }) => (terms.scheme === 'exact' ? undefined : 'invalid_exact_svm_unsupported_scheme'),
  },
  {
    name: 'terms name a fee payer',
    run: ({ terms }) => (terms.feePayer === undefined ? 'invalid_exact_svm_payload_missing_fee_payer' : undefined),
  },
  {
    name: 'fee payer is ours',
    run: ({ terms, policy }) =>
      policy.managedKeys.has(terms.feePayer ?? '')
        ? undefined
        : 'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
  },
  rules.noLookupTables,
  {
    name: 'first account is the fee payer',
    run: ({ transaction, terms }) =>
      transaction.accounts[0] === terms.feePayer ? undefined : 'invalid_exact_svm_fee_payer_mismatch',
  },
  rules.twoSigners,
  rules.atMostInstructions(MAX_INSTRUCTIONS),
  rules.noDurableNonce,
  rules.computeLimit,
  rules.computePrice,
  // A guard is an assertion on accounts by the Lighthouse program, as wallets add them.
  rules.onlyInstructions(['token-transfer', 'compute-limit', 'compute-price', 'memo', 'guard']),
  rules.noKeyOfOurs,
  {
    name: 'one transfer',
    run: ({ transfers }) => (transfers.length === 1 ? undefined : 'invalid_exact_svm_payload_no_transfer_instruction'),
  },
  { name: 'source is not ours', run: checkSource },
  rules.feeUnderCap,
  {
    name: 'mint is the asset',
    run: ({ transfers, terms }) =>
      transfers[0]?.mint === terms.asset ? undefined : 'invalid_exact_svm_payload_mint_mismatch',
  },
  { name: 'destination is the token account of payTo', run: checkDestination },
  {
    name: 'amount is exact',
    run: ({ transfers, terms }) =>
      transfers[0]?.amount === terms.amount ? undefined : 'invalid_exact_svm_payload_amount_mismatch',
  },
  rules.memos,
  {
    name: 'the payer is the authority',
    // The protocol has no reason of its own for it: anybody else, a delegate or a multisig, would be a signer too many.
    run: ({ transfers, payer }) =>
      transfers[0]?.authority === payer ? undefined : 'invalid_exact_svm_payload_excessive_signers',
  },
  {
    name: 'the transfer names nothing else',
    run: ({ transfers }) =>
      transfers[0]?.others.length ? 'invalid_exact_svm_payload_transfer_names_others' : undefined,
  },
  rules.signatures,
];

/**
 * Applies every rule to a transaction. Pure: no keys, no clock, no RPC. What it cannot know — balances, the blockhash's
 * age, the mint's extensions — is asked of the chain afterwards.
 */
export function checkPayment(transaction: DecodedTransaction, terms: Terms, policy: CheckPolicy): CheckResult {
  const subject = subjectOf(transaction, terms, policy);
  const { payer, transfers } = subject;
  const reason = rules.firstReason(CHECKS, subject);
  if (reason !== undefined) return { ok: false, ...rules.refusalOf(reason, payer, terms.payTo) };
  const [transfer] = transfers;
  if (transfer === undefined) throw new Error('unreachable: the rule "one transfer" was applied');
  return { ok: true, payment: { payer, transfer } };
}

/** Reads out of a transaction what the rules look at. */
export function subjectOf(transaction: DecodedTransaction, terms: Terms, policy: CheckPolicy): Subject {
  const instructions = transaction.plain;
  const transfers: TokenTransfer[] = [];
  for (const it of instructions) if (it.kind === 'token-transfer') transfers.push(it);
  // Signers stand first among the accounts: the fee payer, then the one other that `twoSigners` allows.
  const payer = transaction.requiredSignatures > 1 ? (transaction.accounts[1] ?? '') : '';
  return { transaction, instructions, payer, memo: terms.memo, policy, terms, transfers };
}

/** A token account of ours as source could only be drained through a delegate; a payment to oneself pays nobody. */
function checkSource({ transfers: [transfer], policy, terms }: Subject): Reason | undefined {
  if (transfer === undefined) return undefined;
  if (isTokenAccountOf(policy.managedKeys, transfer.source, terms.asset)) {
    return 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds';
  }
  return transfer.source === transfer.destination ? 'invalid_exact_svm_payload_recipient_mismatch' : undefined;
}

function checkDestination({ transfers: [transfer], terms }: Subject): Reason | undefined {
  if (transfer === undefined) return undefined;
  const expected = associatedTokenAddress(terms.payTo, terms.asset, transfer.program);
  return transfer.destination === expected ? undefined : 'invalid_exact_svm_payload_recipient_mismatch';
}
