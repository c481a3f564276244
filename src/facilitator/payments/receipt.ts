import { withAmountJson } from '../../protocol/money/amount-json.js';
import type { Receipt } from '../../protocol/types.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';

/** The receipt of a payment whose money has landed; undefined for the others. */
export function receiptOf(record: PaymentRecord): Receipt | undefined {
  const { state, signature, slot, payer, terms } = record;
  if ((state !== 'confirmed' && state !== 'served') || signature === undefined || slot === undefined) return undefined;
  const { network, payTo, asset, amount } = terms;
  return withAmountJson({ signature, network, payer, payTo, asset, amount, slot });
}
