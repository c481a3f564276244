import { MAX_AMOUNT } from '../../protocol/limits.js';
import { REASONS, type Reason } from '../../protocol/reasons.js';
import type { NetworkId, Payment, Terms } from '../../protocol/types.js';
import { checkPayment } from '../../solana/rules/checks.js';
import type { CheckPolicy } from '../../solana/rules/rules.js';
import { decodeTransaction } from '../../solana/transaction/transaction.js';
import type { Inspection } from './backend.js';

/**
 * Decodes a payment and applies every rule that needs no call: of the network, of the scheme, of the terms. What is
 * refused here costs nobody anything.
 */
export function inspectPayment(payment: Payment, terms: Terms, network: NetworkId, policy: CheckPolicy): Inspection {
  if (terms.network !== network) return refused('invalid_network');
  if (payment.network !== terms.network) return refused('invalid_exact_svm_network_mismatch');
  if (payment.scheme !== terms.scheme) return refused('invalid_exact_svm_unsupported_scheme');
  const decoded = decodeTransaction(payment.transaction);
  if (!decoded.ok) return { ok: false, refusal: { reason: decoded.reason, message: decoded.detail } };
  const { transaction } = decoded;
  const checked = checkPayment(transaction, terms, policy);
  if (checked.ok) return { ok: true, inspected: { payment, terms, transaction, sponsored: true, ...checked.payment } };
  const { ok, ...refusal } = checked;
  return { ok, refusal };
}

/** What is allowed of a payment that was sent by a key: what was allowed then. */
export function policyFor(policy: CheckPolicy, sentBy: string | undefined): CheckPolicy {
  if (sentBy === undefined) return policy;
  return { managedKeys: new Set([...policy.managedKeys, sentBy]), maxFeeLamports: MAX_AMOUNT };
}

function refused(reason: Reason): Inspection {
  return { ok: false, refusal: { reason, message: REASONS[reason] } };
}
