import { defined } from '../../lib/defined.js';
import type { Commitment, Settlement } from '../../protocol/types.js';
import type { PaymentRecord, PaymentState } from '../../storage/ledger/ledger.js';
import type { KnownPayment, OpenedPayment } from '../types.js';
import { heldByThisProcess } from './held-by-this-process.js';
import { createClaim } from './payment-claim.js';
import type { PaymentServiceParts } from './payment-life.js';
import { closedPayment, receiptOf } from './receipt.js';

const SENT: ReadonlySet<PaymentState> = new Set(['broadcast', 'confirmed', 'served']);

/** A payment that was sent and has not failed, by its id: whoever is known to have paid it need not bring its transaction again. */
export async function knownPayment(parts: PaymentServiceParts, id: string): Promise<KnownPayment | undefined> {
  const record = await parts.ledger.find(id);
  if (record === undefined || !SENT.has(record.state)) return undefined;
  const { fingerprint, retryHash, state } = record;
  const isServed = state === 'served';
  return { ...defined({ fingerprint, retryHash }), isServed, resume: (by) => resume(parts, record, by) };
}

/** Of what is on its way the chain is asked, unless somebody here waits for it; what has landed is claimed like any other. */
async function resume(parts: PaymentServiceParts, known: PaymentRecord, by: Commitment): Promise<OpenedPayment> {
  const { ledger, leases } = parts;
  const isLeft = known.state === 'broadcast' && !leases.holds(known.id);
  if (isLeft) await parts.follow?.(known, by);
  const record = (isLeft ? await ledger.find(known.id) : undefined) ?? known;
  const { state, payer, signature } = record;
  if (state === 'broadcast')
    return { status: 'pending', settlement: { status: 'pending', payer, ...defined({ signature }) } };
  if (!SENT.has(state)) return closedPayment(record, true);
  const { leaseMs } = leases;
  const lease = ledger.newLease();
  const request = { ...record, lease, leaseMs };
  const claimed = (await heldByThisProcess(parts, request)) ?? (await ledger.claim(request));
  if (claimed.status === 'busy') return { status: 'in_progress' };
  const receipt = receiptOf(claimed.record);
  if (claimed.status !== 'won' || receipt === undefined)
    return closedPayment(claimed.record, claimed.status !== 'foreign');
  leases.hold(record.id, lease, leaseMs);
  const settle = async (): Promise<Settlement> => ({ status: 'settled', receipt });
  const isResumed = { resumed: !claimed.isFirstUse, receipt, settle };
  return { status: 'open', claim: createClaim({ ...parts, record: claimed.record, lease, ...isResumed }) };
}
