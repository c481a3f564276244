import type { NetworkId } from '../../protocol/types.js';
import { eventSteps } from '../events/event-statements.js';
import { PASSES } from '../passes/pass-statements.js';
import { NOTE_MOMENT } from '../sql/backup/moments.js';
import { processLeases } from '../sql/presence/lost-leases.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { summand } from '../sql/sql-sums.js';
import { bookLandedRefund } from './landed-refund.js';
import { refundEvent } from './refund-event.js';
import { toRefund } from './refund-rows.js';
import { REFUNDS } from './refund-statements.js';
import type { RefundStore } from './refund-store.js';

/**
 * A book of refunds on SQLite or Postgres, in the database of the passes. The database is not closed with it.
 * @param now - clock, milliseconds since the epoch
 */
export function createSqlRefundStore(database: SqlDatabase, now: () => number = Date.now): RefundStore {
  const all = async (...step: Parameters<SqlDatabase['query']>) => (await database.query(...step)).map(toRefund);
  const isDone = async (...step: Parameters<SqlDatabase['query']>) => (await database.query(...step)).length > 0;
  const find = async (id: string) => (await all(REFUNDS.find, id))[0];
  const { named: held, endLost } = processLeases(database, REFUNDS, now);
  return {
    find,
    ofPayment: (paymentId) => all(REFUNDS.ofPayment, paymentId),
    isHeld: (passId, since, request = '') => isDone(REFUNDS.isHeld, passId, since, request),
    async refundable(wallet, after) {
      const rows = await database.query(REFUNDS.refundable, wallet, after);
      return rows.map(({ id, payment_id: paymentId, bought }) => ({
        passId: String(id),
        paymentId: String(paymentId),
        bought: BigInt(String(bought)),
      }));
    },
    isSearched: (network, wallet, restoredAt) => isDone(REFUNDS.isSearched, searchOf(network, wallet), restoredAt),
    async noteSearched(network, wallet, restoredAt) {
      await database.query(NOTE_MOMENT, searchOf(network, wallet), restoredAt);
    },
    async sumSince(network, mint, since) {
      const [row] = await database.query(REFUNDS.sumSince, network, mint, since);
      return BigInt(String(row?.sum ?? 0));
    },
    async plan({ projectId = null, ...refund }, { amount: most, since }, lease, leaseMs) {
      const { id, paymentId, passId, network, wallet, recipient, owner, mint } = refund;
      const [amount, taken] = [summand(refund.amount), summand(refund.taken)];
      const named = [id, paymentId, passId, network, wallet, recipient, owner, projectId, mint] as const;
      const time = now();
      const values = [...named, amount, taken, time, held(lease), time + leaseMs, since, summand(most)] as const;
      return (await database.batchIf([REFUNDS.plan, ...values], [], [[REFUNDS.turn]])).length > 0;
    },
    bookLanded: (refund, signed, slot) => bookLandedRefund(database, { ...refund, signed, slot }, now()),
    async take(network, lease, leaseMs, limit) {
      await endLost(leaseMs, network);
      return all(REFUNDS.take, network, held(lease), now() + leaseMs, now(), limit);
    },
    recordTaken: (id, lease) => isDone(REFUNDS.recordTaken, id, held(lease), now()),
    recordSigned(id, lease, { signature, transaction, blockhash, lastValidBlockHeight, signedSlot = null }) {
      const bytes = Buffer.from(transaction).toString('base64');
      const values = [signature, bytes, blockhash, lastValidBlockHeight, now(), signedSlot] as const;
      return isDone(REFUNDS.recordSigned, id, held(lease), ...values);
    },
    recordExpired: (id, lease) => isDone(REFUNDS.recordExpired, id, held(lease), now()),
    async recordPaid(id, lease, slot) {
      const refund = await find(id);
      if (refund === undefined) return false;
      const told = eventSteps([refundEvent({ ...refund, slot }, now())]);
      return (await database.batchIf([REFUNDS.recordPaid, id, held(lease), slot, now()], told)).length > 0;
    },
    async recordFailed(id, lease, reason) {
      const refund = await find(id);
      if (refund === undefined) return false;
      const of = [refund.passId, id] as const;
      const steps = [[PASSES.giveBack, ...of] as const, [PASSES.endDebit, ...of] as const];
      const guard = [REFUNDS.recordFailed, id, held(lease), reason, now()] as const;
      return (await database.batchIf(guard, steps, [[PASSES.lock, refund.passId]])).length > 0;
    },
    release: (id, lease, until, reason) => isDone(REFUNDS.release, id, held(lease), until, reason ?? null),
  };
}

/** The moment whose lost refunds were looked for. */
function searchOf(network: NetworkId, wallet: string): string {
  return `refunds of ${wallet} on ${network}`;
}
