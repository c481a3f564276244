/**
 * Why a payment was refused. The strings are part of the protocol (protocol/README.md, "Facilitator API"): clients branch on them, so those the
 * reference has keep their spelling. Each sentence says what was wrong and what the payer can do.
 */
export const REASONS = {
  invalid_payload: 'The payment payload does not have the shape of the scheme.',
  invalid_network: 'The network of the payment is not served here.',
  invalid_x402_version: 'This version of x402 is not spoken here.',
  invalid_exact_svm_unsupported_scheme: 'Only the scheme "exact" is accepted.',
  invalid_exact_svm_network_mismatch: 'The payment is for another network than the terms.',
  invalid_exact_svm_payload_missing_fee_payer: 'The terms name no fee payer.',
  invalid_exact_svm_fee_payer_not_managed_by_facilitator:
    'The fee payer of the terms is not a key of this facilitator.',
  invalid_exact_svm_fee_payer_mismatch: 'The first account of the transaction is not the offered fee payer.',
  invalid_exact_svm_payload_transaction_could_not_be_decoded: 'The transaction cannot be decoded.',
  invalid_exact_svm_payload_transaction_version_unsupported:
    'Transactions of this message version are not supported yet; sign a legacy or version 0 transaction.',
  invalid_exact_svm_payload_address_lookup_tables:
    'Address lookup tables are not accepted; name every account in the transaction.',
  invalid_exact_svm_payload_durable_nonce: 'Durable-nonce transactions are not accepted; use a recent blockhash.',
  invalid_exact_svm_payload_excessive_signers:
    'The transaction must be signed by the fee payer and the payer, and nobody else.',
  invalid_exact_svm_payload_signature_invalid: "The payer's signature is missing or does not fit the transaction.",
  invalid_exact_svm_payload_transaction_instructions_length:
    'The transaction has no instruction, or more of them than a payment may have; leave out what it does not need.',
  invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction:
    'A compute unit limit is malformed or given twice.',
  invalid_exact_svm_payload_transaction_instructions_compute_price_instruction:
    'A compute unit price is malformed or given twice.',
  invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high:
    'The network fee would be over the cap; set a lower compute unit limit.',
  invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high:
    'The network fee would be over the cap; set a lower compute unit price or limit.',
  invalid_exact_svm_payload_unknown_optional_instruction:
    'An instruction is neither the transfer, a compute budget, a memo nor a wallet guard on accounts.',
  invalid_exact_svm_payload_no_transfer_instruction:
    'The transaction has no TransferChecked instruction, or more than one.',
  invalid_exact_svm_payload_transaction_fee_payer_transferring_funds:
    'A key of the facilitator is used inside an instruction.',
  invalid_exact_svm_payload_mint_mismatch: 'The transfer is of another token than the terms ask for.',
  invalid_exact_svm_payload_recipient_mismatch: "The transfer does not go to the recipient's associated token account.",
  invalid_exact_svm_payload_amount_mismatch: 'The transfer is not of exactly the amount that the terms ask for.',
  invalid_exact_svm_payload_memo_mismatch: 'The memo is not the one that the terms ask for.',
  invalid_exact_svm_payload_memo_count: 'The transaction must carry exactly one memo where the terms ask for one.',
  invalid_exact_svm_payload_memo_too_long: 'A memo may have at most 256 bytes.',
  invalid_exact_svm_mint_not_accepted:
    'The token has an extension (transfer hook, permanent delegate or confidential transfer) that can keep the recipient from getting the amount.',
  invalid_exact_svm_mint_transfer_fee:
    'The token keeps a fee of every transfer, so that the recipient would get less than the price; ask for another token. No setting allows it.',
  invalid_exact_svm_payload_transfer_names_others:
    'The transfer names accounts beside source, mint, recipient and payer, such as the reference of an invoice: a payment is for one thing.',
  invalid_exact_svm_mint_unknown: 'The asset of the terms is not a token mint on this network.',
  invalid_exact_svm_blockhash_expired:
    'The blockhash of the transaction has expired or is not known; sign again with a recent one.',
  invalid_exact_svm_payer_token_account_missing:
    'The payer has no token account for this token, so there is nothing to pay from.',
  invalid_exact_svm_recipient_token_account_missing:
    'The recipient has no token account for this token yet; it must be created before it can be paid.',
  invalid_exact_svm_recipient_token_account_not_owned:
    'The token account of the recipient belongs to another wallet now, which would get the money; nothing was charged. Tell the seller.',
  invalid_exact_svm_transaction_simulation_failed: 'The transaction would fail on the chain.',
  invalid_exact_svm_transaction_failed: 'The transaction landed on the chain with an error; nothing was paid.',
  invalid_exact_svm_transaction_expired:
    'The transaction did not land before its blockhash expired; nothing was paid. Sign a new one.',
  invalid_exact_svm_verification_failed: 'The payment could not be verified.',
  invalid_transfer_reference_missing:
    "The transaction does not name the payment's reference account; it must be among the accounts of a transfer.",
  invalid_transfer_reference_misplaced:
    'The reference of the payment must be the last account of the transfer to its first recipient, and no other transfer to a recipient may name one: a payment is for one thing.',
  invalid_transfer_leg_missing:
    'The transaction does not transfer the amount to every recipient of the payment, each by a transfer of its own. It must be exact; only a wallet that sends it itself, with the reference as the last account, may send more.',
  invalid_transfer_other_transfer:
    'The transaction transfers more than the payment asks for; where the facilitator pays the network fee, it may do nothing else.',
  invalid_transfer_not_received:
    'The transaction landed, but the recipients do not hold the amounts after it: something in it took them away again. It does not pay.',
  invalid_transfer_mixed_sol:
    'The transaction pays some recipients in native SOL and others in wrapped SOL. Either is taken, but all of a payment must be one of them.',
  invalid_transfer_late:
    'The money arrived when the time of its payment request was over, so it buys nothing. The recipients have it, and it is booked as late: ask the seller to send it back, and ask for a new payment.',
  invalid_transfer_already_paid:
    'Another transaction has paid the payment already, so this one buys nothing. The recipients have its money: ask the seller to send it back.',
  invalid_proof_unaddressed:
    "The payment does not say that it is for this call. Without a payment request the key owner's wallet pays, as its own fee payer, with the memo that names project and key, no other memo, and no account that the payment does not need.",
  invalid_proof_foreign:
    'The payment belongs to somebody else: it was created under another service key or for another project, or another wallet paid it.',
  invalid_proof_too_little:
    'The payment was made for another route of the project, and is less than this call costs; it stays good for that route.',
  invalid_proof_too_old: 'The payment landed more than ten minutes ago; pay again.',
  invalid_proof_before_start:
    'The payment landed before this server started, which forgets at a restart what was used; pay again.',
  invalid_proof_in_lost_books:
    'The payment landed in a time of which the books were lost and restored from a backup, so that it may have been used already; nothing more is charged. Show its signature to the seller, who finds it on the chain.',
  insufficient_funds: 'The payer does not hold the amount; top up the account and pay again.',
  wallet_suspended: 'The operator of this service has suspended this wallet; nothing was charged. Ask the operator.',
  payer_must_wait:
    'A transaction of this wallet landed with an error a short while ago, or many of its payments are on their way; nothing was charged. Pay again in a while.',
  payer_fee_limit_reached:
    'This wallet has used its share of the network fees that are paid here in an hour; nothing was charged. Pay again when the hour is over.',
  duplicate_settlement: 'This transaction has been used for a payment before.',
  settlement_in_progress: 'This transaction is being settled right now; ask again in a moment.',
  settlement_pending:
    'The transaction was sent, its outcome is not known yet; send the same payment again to learn it.',
} as const satisfies Record<string, string>;

/** What is told beside a reason where a wallet would pay itself, for which the protocol has none of its own. */
export const SAME_WALLET = 'Payer and recipient are the same wallet; pay with another one.';

/** A reason of the protocol. */
export type Reason = keyof typeof REASONS;

/** Whether a text is one of the reasons. */
export function isReason(text: string): text is Reason {
  return Object.hasOwn(REASONS, text);
}
