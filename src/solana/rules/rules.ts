import { verifyEd25519 } from '../../lib/ed25519/ed25519.js';
import { addressBytes } from '../../protocol/address.js';
import { MAX_MEMO_BYTES } from '../../protocol/limits.js';
import { REASONS, type Reason, SAME_WALLET } from '../../protocol/reasons.js';
import type { PlainInstruction } from '../transaction/instructions.js';
import { networkFee } from '../transaction/network-fee.js';
import type { DecodedTransaction } from '../transaction/transaction.js';

/** What the operator allows. */
export interface CheckPolicy {
  /** Every key that this facilitator signs with, base58. None of them may take part in a payment but as fee payer. */
  readonly managedKeys: ReadonlySet<string>;
  /** Highest network fee that a payment may cost the fee payer, in lamports. */
  readonly maxFeeLamports: bigint;
}

/** What every rule can look at. */
export interface RuleSubject {
  readonly transaction: DecodedTransaction;
  readonly instructions: readonly PlainInstruction[];
  /** The wallet that pays, base58. */
  readonly payer: string;
  /** Memo that is asked for. */
  readonly memo: string | undefined;
  readonly policy: CheckPolicy;
}

/** A rule: what it is called, and which reason there is against the subject, if any. */
export interface Check<S extends RuleSubject = RuleSubject> {
  readonly name: string;
  readonly run: (subject: S) => Reason | undefined;
}

/** The first reason that any of the rules has against the subject. */
export function firstReason<S extends RuleSubject>(checks: readonly Check<S>[], subject: S): Reason | undefined {
  for (const check of checks) {
    const reason = check.run(subject);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Reasons that a transfer to whom it comes from has too: the protocol has none for it. */
const PAYS_NOBODY: ReadonlySet<Reason> = new Set([
  'invalid_exact_svm_payload_recipient_mismatch',
  'invalid_transfer_leg_missing',
]);

/** What is told of a reason, where any of these wallets pays, or is to be paid. */
export function messageOf(reason: Reason, payers: readonly string[], recipients: readonly string[]): string {
  const paysItself = PAYS_NOBODY.has(reason) && payers.some((it) => recipients.includes(it));
  return paysItself ? SAME_WALLET : REASONS[reason];
}

/** A reason against a payment with what is told of it, and the payer unless that is ''. */
export function refusalOf(reason: Reason, payer: string, payTo: string) {
  return { reason, message: messageOf(reason, [payer], [payTo]), ...(payer === '' ? {} : { payer }) };
}

const REQUIRED_SIGNATURES = 2;

export const noLookupTables: Check = {
  name: 'no lookup tables',
  run: ({ transaction }) =>
    transaction.lookupTables === 0 ? undefined : 'invalid_exact_svm_payload_address_lookup_tables',
};

export const twoSigners: Check = {
  name: 'signers are the fee payer and the payer',
  run: ({ transaction }) =>
    transaction.requiredSignatures === REQUIRED_SIGNATURES ? undefined : 'invalid_exact_svm_payload_excessive_signers',
};

export const noDurableNonce: Check = {
  name: 'no durable nonce',
  run: ({ instructions }) =>
    has(instructions, 'nonce-advance') ? 'invalid_exact_svm_payload_durable_nonce' : undefined,
};

export const computeLimit: Check = {
  name: 'compute unit limit',
  run: ({ instructions }) =>
    has(instructions, 'malformed-compute-limit') || count(instructions, 'compute-limit') > 1
      ? 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction'
      : undefined,
};

export const computePrice: Check = {
  name: 'compute unit price',
  run: ({ instructions }) =>
    has(instructions, 'malformed-compute-price') || count(instructions, 'compute-price') > 1
      ? 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction'
      : undefined,
};

/**
 * Wallets guard the fee payer's lamports too. A guard that names it must be shown to call nobody (guards.ts) before it is
 * signed; all else of ours is out of bounds.
 */
export const noKeyOfOurs: Check = {
  name: 'no key of ours in an instruction',
  run: ({ transaction, instructions, policy }) =>
    transaction.instructions.some((it, position) => {
      const allowed = instructions[position]?.kind === 'guard' ? transaction.accounts[0] : undefined;
      const isOurs = (key: string) => key !== allowed && policy.managedKeys.has(key);
      return policy.managedKeys.has(it.program) || it.accounts.some(isOurs);
    })
      ? 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds'
      : undefined,
};

export const feeUnderCap: Check = {
  name: 'network fee under the cap',
  run: ({ transaction, instructions, policy }) =>
    networkFee(transaction.requiredSignatures, instructions) <= policy.maxFeeLamports
      ? undefined
      : 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
};

/** Compared as bytes: decoded text would let a byte order mark or broken UTF-8 through. */
export const memos: Check = {
  name: 'memos',
  run({ instructions, memo: asked }) {
    const found = instructions.filter((it) => it.kind === 'memo');
    if (found.some(({ data }) => data.length > MAX_MEMO_BYTES)) return 'invalid_exact_svm_payload_memo_too_long';
    if (asked === undefined) return undefined;
    const [memo, ...others] = found;
    if (memo === undefined || others.length > 0) return 'invalid_exact_svm_payload_memo_count';
    return Buffer.from(asked, 'utf8').equals(memo.data) ? undefined : 'invalid_exact_svm_payload_memo_mismatch';
  },
};

/** Every signature but the one in our own slot, which is filled when all else is right. */
export const signatures: Check = {
  name: "payer's signature",
  run({ transaction, policy }) {
    const { accounts, message } = transaction;
    const valid = transaction.signatures.every((signature, slot) => {
      const signer = accounts[slot] ?? '';
      const ours = slot === 0 && policy.managedKeys.has(signer);
      return ours || verifyEd25519(addressBytes(signer), message, signature);
    });
    return valid ? undefined : 'invalid_exact_svm_payload_signature_invalid';
  },
};

/** A rule that lets through only some kinds of instruction. */
export function onlyInstructions(kinds: readonly PlainInstruction['kind'][]): Check {
  const allowed = new Set(kinds);
  return {
    name: 'known instructions only',
    run: ({ instructions }) =>
      instructions.every(({ kind }) => allowed.has(kind))
        ? undefined
        : 'invalid_exact_svm_payload_unknown_optional_instruction',
  };
}

/** A rule on the number of instructions. */
export function atMostInstructions(limit: number): Check {
  return {
    name: 'instruction count',
    run: ({ instructions }) =>
      instructions.length >= 1 && instructions.length <= limit
        ? undefined
        : 'invalid_exact_svm_payload_transaction_instructions_length',
  };
}

function has(instructions: readonly PlainInstruction[], kind: PlainInstruction['kind']): boolean {
  return count(instructions, kind) > 0;
}

function count(instructions: readonly PlainInstruction[], kind: PlainInstruction['kind']): number {
  let found = 0;
  for (const it of instructions) if (it.kind === kind) found += 1;
  return found;
}
