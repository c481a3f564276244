import type { Ledger, PaymentRecord, PaymentState } from '../storage/ledger.js';
import type { Leases } from './leases.js';

const OPEN: ReadonlySet<PaymentState> = new Set(['claimed', 'broadcast', 'confirmed']);

/**
 * The payment, if this process is at work on it for the same use and not done: nobody else may have it then, though its lease
 * seems to have run out because the clock has jumped ahead. Where its answer has left, it is waited for until that is
 * written down.
 * @param binding - the use, as it is claimed for
 */
export async function heldHere(
  { leases, ledger }: { readonly leases: Leases; readonly ledger: Pick<Ledger, 'find'> },
  id: string,
  binding: string,
): Promise<PaymentRecord | undefined> {
  await leases.finishing(id);
  if (!leases.holds(id)) return undefined;
  const record = await ledger.find(id);
  return record?.binding === binding && OPEN.has(record.state) ? record : undefined;
}
