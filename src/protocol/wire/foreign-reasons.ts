import { isReason, type Reason } from '../reasons.js';

/** Reasons that other facilitators give, under their own names; those of version 1 have no prefix. */
const ALIASES: ReadonlyMap<string, Reason> = new Map<string, Reason>([
  ['invalid_scheme', 'invalid_exact_svm_unsupported_scheme'],
  ['unsupported_scheme', 'invalid_exact_svm_unsupported_scheme'],
  ['network_mismatch', 'invalid_exact_svm_network_mismatch'],
  ['fee_payer_not_managed_by_facilitator', 'invalid_exact_svm_fee_payer_not_managed_by_facilitator'],
  ['invalid_payment_requirements', 'invalid_payload'],
  ['invalid_exact_svm_payload_transaction', 'invalid_exact_svm_payload_transaction_could_not_be_decoded'],
  ['invalid_exact_svm_payload_unknown_fourth_instruction', 'invalid_exact_svm_payload_unknown_optional_instruction'],
  ['invalid_exact_svm_payload_unknown_fifth_instruction', 'invalid_exact_svm_payload_unknown_optional_instruction'],
  ['invalid_exact_svm_payload_unknown_sixth_instruction', 'invalid_exact_svm_payload_unknown_optional_instruction'],
  ['invalid_exact_svm_payload_unknown_seventh_instruction', 'invalid_exact_svm_payload_unknown_optional_instruction'],
]);

/** The reason that a text of another facilitator means; undefined when it is none that is known here. */
export function reasonFrom(text: string): Reason | undefined {
  return isReason(text) ? text : ALIASES.get(text);
}
