import { defined } from '../../lib/defined.js';
import type { Leg } from '../../protocol/money/split.js';
import type { NetworkId } from '../../protocol/types.js';
import { legsFromSql } from '../ledger/payment-rows.js';
import type { Row } from '../sql/sql-database.js';
import { exactSum } from '../sql/sql-sums.js';
import {
  HELD_REASONS,
  type HeldReason,
  type OwedAccount,
  type OwedSum,
  type OwedTotal,
  type PayoutRecord,
  type PayoutState,
  type SignedPayout,
} from './payout-store.js';

function accountOf(row: Row): OwedAccount {
  return {
    projectId: String(row.project_id),
    network: row.network as NetworkId,
    wallet: String(row.wallet),
    mint: String(row.mint),
  };
}

/** What an account owes to one recipient. */
export function toOwedSum(row: Row): OwedSum {
  const held = reasonOf(row.held);
  return {
    ...accountOf(row),
    recipient: String(row.recipient),
    amount: exactSum(row),
    payments: Number(row.payments),
    oldestAt: Number(row.oldest_at),
    heldUntil: Number(row.held_until),
    ...defined({ held }),
  };
}

/** What an account owes. */
export function toOwedTotal(row: Row): OwedTotal {
  return { ...accountOf(row), amount: exactSum(row), oldestAt: Number(row.oldest_at) };
}

/** Shares with the same recipient as one, those of nothing left out. */
export function byRecipient(legs: readonly Leg[]): readonly Leg[] {
  const sums = new Map<string, bigint>();
  for (const { recipient, amount } of legs) sums.set(recipient, (sums.get(recipient) ?? 0n) + amount);
  return [...sums].filter(([, amount]) => amount > 0n).map(([recipient, amount]) => ({ recipient, amount }));
}

/** A row of `tollhouse_payout`. */
export function toPayout(row: Row): PayoutRecord {
  const reason = reasonOf(row.reason);
  return {
    ...accountOf(row),
    id: String(row.id),
    owner: String(row.owner),
    state: row.state as PayoutState,
    legs: legsFromSql(String(row.legs)),
    total: BigInt(String(row.total)),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    ...(row.signature === null ? {} : { signed: signedOf(row), signedAt: Number(row.signed_at) }),
    ...(row.slot === null ? {} : { slot: Number(row.slot) }),
    ...defined({ reason }),
  };
}

/** What was signed of a payout or a refund, from its row. */
export function signedOf(row: Row): SignedPayout {
  return {
    signature: String(row.signature),
    transaction: Buffer.from(String(row.signed), 'base64'),
    blockhash: String(row.blockhash),
    lastValidBlockHeight: Number(row.last_valid_block_height),
    ...(row.signed_slot === null ? {} : { signedSlot: Number(row.signed_slot) }),
  };
}

function reasonOf(value: Row[string] | undefined): HeldReason | undefined {
  return HELD_REASONS.find((reason) => reason === value);
}
