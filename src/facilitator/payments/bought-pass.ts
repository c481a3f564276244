import { newId } from '../../lib/ids.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PassStore } from '../../storage/passes/pass-store.js';

/** Opens the pass that a payment has bought whose money has landed, unless that was done before; it may have bought none. */
export async function openBoughtPass(
  passes: Pick<PassStore, 'open'>,
  { id: paymentId, payer: wallet, buys }: Pick<PaymentRecord, 'id' | 'payer' | 'buys'>,
): Promise<void> {
  if (buys !== undefined) await passes.open({ ...buys, id: newId('pas'), paymentId, wallet });
}
