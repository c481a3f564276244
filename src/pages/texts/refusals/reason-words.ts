import { filledWith } from '../filled-with.js';
import type { ReasonTexts } from './refusal-texts.js';

/** Why something opened nothing, as programs are told it. */
export interface ToldReason {
  /** Code of the problem, or the reason of the protocol. */
  readonly code: string;
  /** Sentence for programs and their people, in English. */
  readonly detail: string;
}

/** What is told alike, by the code. */
const ALIKE: Readonly<Record<Exclude<keyof ReasonTexts, 'other'>, readonly string[]>> = {
  suspended: ['wallet_suspended'],
  tooLarge: ['wallet_too_large'],
  noFunds: ['insufficient_funds', 'invalid_exact_svm_payer_token_account_missing'],
  ranOut: ['invalid_exact_svm_blockhash_expired', 'invalid_exact_svm_transaction_expired'],
  failed: ['invalid_exact_svm_transaction_simulation_failed', 'invalid_exact_svm_transaction_failed', 'payment_failed'],
  notAsAsked: [
    'invalid_exact_svm_fee_payer_mismatch',
    'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
    'invalid_exact_svm_payload_signature_invalid',
    'invalid_exact_svm_payload_excessive_signers',
    'invalid_exact_svm_payload_unknown_optional_instruction',
    'invalid_exact_svm_payload_transaction_instructions_length',
    'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction',
    'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction',
    'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high',
    'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
    'invalid_exact_svm_payload_no_transfer_instruction',
    'invalid_exact_svm_payload_mint_mismatch',
    'invalid_exact_svm_payload_recipient_mismatch',
    'invalid_exact_svm_payload_amount_mismatch',
    'invalid_exact_svm_payload_memo_mismatch',
    'invalid_exact_svm_payload_memo_count',
    'invalid_exact_svm_payload_transfer_names_others',
  ],
  mustWait: ['payer_must_wait', 'payer_fee_limit_reached'],
  used: ['payment_already_used'],
  paidBefore: ['duplicate_settlement'],
  priceChanged: ['no_matching_requirements'],
  passOver: ['pass_ended', 'pass_revoked', 'invalid_pass'],
  passUsedUp: ['pass_used_up'],
  passElsewhere: ['pass_of_another_site', 'pass_of_another_route', 'pass_of_another_wallet', 'pass_of_another_token'],
  signInOld: ['sign_in_replayed', 'token_expired'],
  signInWrong: ['invalid_sign_in', 'invalid_access_token', 'pass_sign_in_refused'],
  tooMany: ['rate_limited', 'too_many_payments'],
  away: [
    'chain_unavailable',
    'store_unavailable',
    'payment_backend_unavailable',
    'fee_limit_reached',
    'not_ready',
    'stopping',
    'internal_error',
  ],
  notSetUp: ['not_configured', 'bad_option', 'invalid_exact_svm_recipient_token_account_missing'],
};

const BY_CODE: ReadonlyMap<string, keyof ReasonTexts> = new Map(
  Object.entries(ALIKE).flatMap(([text, codes]) => codes.map((it) => [it, text as keyof typeof ALIKE] as const)),
);

/** Why something opened nothing, for people in their language. */
export function reasonInWords({ code, detail }: ToldReason, texts: ReasonTexts): string {
  return filledWith(texts[BY_CODE.get(code) ?? 'other'], { code, detail });
}
