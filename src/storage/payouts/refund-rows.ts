import { defined } from '../../lib/defined.js';
import type { NetworkId } from '../../protocol/types.js';
import type { Row } from '../sql/sql-database.js';
import { signedOf } from './payout-rows.js';
import { REFUND_FAULTS, type RefundFault, type RefundRecord, type RefundState } from './refund-store.js';

/** A row of `tollhouse_refund`. */
export function toRefund(row: Row): RefundRecord {
  const reason = reasonOf(row.reason);
  const projectId = row.project_id === null ? undefined : String(row.project_id);
  return {
    id: String(row.id),
    paymentId: String(row.payment_id),
    passId: String(row.pass_id),
    network: row.network as NetworkId,
    wallet: String(row.wallet),
    recipient: String(row.recipient),
    owner: String(row.owner),
    mint: String(row.mint),
    amount: BigInt(String(row.amount)),
    taken: BigInt(String(row.taken)),
    state: row.state as RefundState,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    ...(row.signature === null ? {} : { signed: signedOf(row) }),
    ...(row.slot === null ? {} : { slot: Number(row.slot) }),
    ...defined({ reason, projectId }),
  };
}

function reasonOf(value: Row[string] | undefined): RefundFault | undefined {
  return REFUND_FAULTS.find((reason) => reason === value);
}
