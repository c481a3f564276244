import { addressBytes } from '../protocol/address.js';
import type { Reason } from '../protocol/reasons.js';
import { REASONS } from '../protocol/reasons.js';
import type { Terms } from '../protocol/types.js';
import { associatedTokenAddress } from './associated-token.js';
import { verifyEd25519 } from './ed25519.js';
import { type PlainInstruction, readInstruction, type TokenTransfer } from './instructions.js';
import { networkFee } from './network-fee.js';
import { PROGRAMS } from './programs.js';
import type { DecodedTransaction } from './transaction.js';

/** What the operator allows. */
export interface CheckPolicy {
  /** Every key that this facilitator signs with, base58. None of them may take part in a payment but as fee payer. */
  readonly managedKeys: ReadonlySet<string>;
  /** Highest network fee that a payment may cost the fee payer, in lamports. */
  readonly maxFeeLamports: bigint;
}

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

interface Subject {
  readonly transaction: DecodedTransaction;
  readonly instructions: readonly PlainInstruction[];
  readonly transfers: readonly TokenTransfer[];
  readonly payer: string;
  readonly terms: Terms;
  readonly policy: CheckPolicy;
}

/** A rule: what it is called, and what is wrong with the subject, if anything. */
interface Check {
  readonly name: string;
  readonly run: (subject: Subject) => Reason | undefined;
}

/** Everything that a payment of the scheme may do. */
const ALLOWED: ReadonlySet<PlainInstruction['kind']> = new Set<PlainInstruction['kind']>([
  'token-transfer',
  'compute-limit',
  'compute-price',
  'memo',
  'guard',
]);
const MAX_INSTRUCTIONS = 8;
const MAX_MEMO_BYTES = 256;
const REQUIRED_SIGNATURES = 2;

/**
 * The rules of the scheme `exact` on Solana (x402.md §5), in the order in which they are applied: first what makes the
 * rest readable, then what protects our keys, then what the seller is owed, and the signature, which costs most, last.
 */
export const CHECKS: readonly Check[] = [
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
  {
    name: 'no lookup tables',
    run: ({ transaction }) =>
      transaction.lookupTables === 0 ? undefined : 'invalid_exact_svm_payload_address_lookup_tables',
  },
  {
    name: 'first account is the fee payer',
    run: ({ transaction, terms }) =>
      transaction.accounts[0] === terms.feePayer ? undefined : 'invalid_exact_svm_fee_payer_mismatch',
  },
  {
    name: 'signers are the fee payer and the payer',
    run: ({ transaction }) =>
      transaction.requiredSignatures === REQUIRED_SIGNATURES
        ? undefined
        : 'invalid_exact_svm_payload_excessive_signers',
  },
  {
    name: 'instruction count',
    run: ({ instructions }) =>
      instructions.length >= 1 && instructions.length <= MAX_INSTRUCTIONS
        ? undefined
        : 'invalid_exact_svm_payload_transaction_instructions_length',
  },
  {
    name: 'no durable nonce',
    run: ({ instructions }) =>
      has(instructions, 'nonce-advance') ? 'invalid_exact_svm_payload_durable_nonce' : undefined,
  },
  { name: 'compute unit limit', run: checkComputeLimit },
  { name: 'compute unit price', run: checkComputePrice },
  {
    name: 'known instructions only',
    run: ({ instructions }) =>
      instructions.every(({ kind }) => ALLOWED.has(kind))
        ? undefined
        : 'invalid_exact_svm_payload_unknown_optional_instruction',
  },
  {
    name: 'no key of ours in an instruction',
    run: ({ transaction, policy }) =>
      transaction.instructions.some(
        (it) => policy.managedKeys.has(it.program) || it.accounts.some((key) => policy.managedKeys.has(key)),
      )
        ? 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds'
        : undefined,
  },
  {
    name: 'one transfer',
    run: ({ transfers }) => (transfers.length === 1 ? undefined : 'invalid_exact_svm_payload_no_transfer_instruction'),
  },
  { name: 'source is not ours', run: checkSource },
  {
    name: 'network fee under the cap',
    run: ({ transaction, instructions, policy }) =>
      networkFee(transaction.requiredSignatures, instructions) <= policy.maxFeeLamports
        ? undefined
        : 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
  },
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
  { name: 'memos', run: checkMemos },
  {
    name: 'the payer is the authority',
    run: ({ transfers, payer }) =>
      transfers[0]?.authority === payer ? undefined : 'invalid_exact_svm_payload_excessive_signers',
  },
  { name: "payer's signature", run: checkSignature },
];

/**
 * Applies every rule to a transaction. Pure: no keys, no clock, no RPC. What it cannot know — balances, the blockhash's
 * age, the mint's extensions — is asked of the chain afterwards.
 */
export function checkPayment(transaction: DecodedTransaction, terms: Terms, policy: CheckPolicy): CheckResult {
  const instructions = transaction.instructions.map(readInstruction);
  const transfers = instructions.filter((it) => it.kind === 'token-transfer');
  const payer = transaction.accounts[1] ?? '';
  const subject: Subject = { transaction, instructions, transfers, payer, terms, policy };
  for (const check of CHECKS) {
    const reason = check.run(subject);
    if (reason !== undefined) return { ok: false, reason, message: REASONS[reason], payer };
  }
  const [transfer] = transfers;
  if (transfer === undefined) throw new Error('unreachable: the rule "one transfer" was applied');
  return { ok: true, payment: { payer, transfer } };
}

function has(instructions: readonly PlainInstruction[], kind: PlainInstruction['kind']): boolean {
  return instructions.some((it) => it.kind === kind);
}

function count(instructions: readonly PlainInstruction[], kind: PlainInstruction['kind']): number {
  return instructions.filter((it) => it.kind === kind).length;
}

function checkComputeLimit({ instructions }: Subject): Reason | undefined {
  const wrong = has(instructions, 'malformed-compute-limit') || count(instructions, 'compute-limit') > 1;
  return wrong ? 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction' : undefined;
}

function checkComputePrice({ instructions }: Subject): Reason | undefined {
  const wrong = has(instructions, 'malformed-compute-price') || count(instructions, 'compute-price') > 1;
  return wrong ? 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction' : undefined;
}

/** A token account of ours as source could only be drained through a delegate; a payment to oneself pays nobody. */
function checkSource({ transfers, policy, terms }: Subject): Reason | undefined {
  const [transfer] = transfers;
  if (transfer === undefined) return undefined;
  for (const key of policy.managedKeys) {
    for (const program of [PROGRAMS.token, PROGRAMS.token2022]) {
      if (transfer.source === associatedTokenAddress(key, terms.asset, program)) {
        return 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds';
      }
    }
  }
  return transfer.source === transfer.destination ? 'invalid_exact_svm_payload_recipient_mismatch' : undefined;
}

function checkDestination({ transfers, terms }: Subject): Reason | undefined {
  const [transfer] = transfers;
  if (transfer === undefined) return undefined;
  const expected = associatedTokenAddress(terms.payTo, terms.asset, transfer.program);
  return transfer.destination === expected ? undefined : 'invalid_exact_svm_payload_recipient_mismatch';
}

/** Compared as bytes: decoded text would let a byte order mark or broken UTF-8 through. */
function checkMemos({ instructions, terms }: Subject): Reason | undefined {
  const memos = instructions.flatMap((it) => (it.kind === 'memo' ? [it.data] : []));
  if (memos.some((memo) => memo.length > MAX_MEMO_BYTES)) return 'invalid_exact_svm_payload_memo_too_long';
  if (terms.memo === undefined) return undefined;
  const [memo, ...others] = memos;
  if (memo === undefined || others.length > 0) return 'invalid_exact_svm_payload_memo_count';
  return Buffer.from(terms.memo, 'utf8').equals(memo) ? undefined : 'invalid_exact_svm_payload_memo_mismatch';
}

function checkSignature({ transaction, payer }: Subject): Reason | undefined {
  const signature = transaction.signatures[1];
  const valid = signature !== undefined && verifyEd25519(addressBytes(payer), transaction.message, signature);
  return valid ? undefined : 'invalid_exact_svm_payload_signature_invalid';
}
