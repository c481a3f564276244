import { withAmountJson } from '../../protocol/money/amount-json.js';
import { REASONS } from '../../protocol/reasons.js';
import type { Receipt } from '../../protocol/types.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { OpenedPayment } from '../types.js';

/** The receipt of a payment whose money has landed; undefined for the others. */
export function receiptOf(record: PaymentRecord): Receipt | undefined {
  const { state, signature, slot, payer, terms } = record;
  if ((state !== 'confirmed' && state !== 'served') || signature === undefined || slot === undefined) return undefined;
  const { network, payTo, asset, amount } = terms;
  return withAmountJson({ signature, network, payer, payTo, asset, amount, slot });
}

/** A payment that is over, or somebody else's. The receipt is on the chain for everybody; the response is for its owner. */
export function closedPayment(record: PaymentRecord, isTheirs: boolean): OpenedPayment {
  const { id, reason, payer } = record;
  const receipt = receiptOf(record);
  if (isTheirs && reason !== undefined) {
    return { status: 'refused', refusal: { reason, message: REASONS[reason], payer } };
  }
  if (receipt === undefined) return { status: 'used' };
  return isTheirs ? { status: 'served', id, receipt } : { status: 'used', receipt };
}
