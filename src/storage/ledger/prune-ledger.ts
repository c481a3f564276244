import type { SqlDatabase, Statement, Step } from '../sql/sql-database.js';
import type { Ledger } from './ledger.js';

/** A ledger that can forget. */
export interface PrunableLedger extends Ledger {
  /**
   * Forgets what was over before a time, the oldest first: payments that were served, expired or failed, or given up before
   * they were sent, and payment requests that nothing can pay any more. What was left of a payment and used up by other requests ends it
   * as `served`. A step takes as long as its `limit` makes it; call
   * it until it answers 0.
   * A payment may be forgotten only when the chain has forgotten its blockhash and no codec takes its signature any more.
   * @param before - milliseconds since the epoch
   * @param limit - how many of each kind go at most
   * @param servedBefore - the same for payments that were served, the books of the money; default `before`
   * @returns how many went
   */
  prune(before: number, limit: number, servedBefore?: number): Promise<number>;
}

/** Of what a payment has bought, at the time `$1`. */
export const PASS_IS_OVER = `(tollhouse_payment.buys is null or not exists (
    select 1 from tollhouse_pass where tollhouse_pass.payment_id = tollhouse_payment.id and coalesce(over_at, $1) >= $1))`;

const PRUNE = {
  requests: {
    name: 'tollhouse_prune_requests',
    text: `delete from tollhouse_payment_request where id in (
        select id from tollhouse_payment_request
        where expires_at < $1 and not exists (
          select 1 from tollhouse_payment
          where tollhouse_payment.id = tollhouse_payment_request.attempt and coalesce(finished_at, $1) >= $1)
        order by expires_at limit $2)
      returning id`,
  },
  /** Never sent, and given up long ago: nothing is known of it that anybody needs. */
  unsent: {
    name: 'tollhouse_prune_unsent',
    text: `delete from tollhouse_payment
      where finished_at is null and state = 'claimed' and lease_ends < $1 and id in (
        select id from tollhouse_payment
        where finished_at is null and state = 'claimed' and lease_ends < $1 order by lease_ends limit $2)
      returning id`,
  },
  /** Landed, and what a failed request of it left its payer was used up by others: nothing is owed for it any more. */
  hadOtherwise: {
    name: 'tollhouse_end_had_otherwise',
    text: `update tollhouse_payment set state = 'served', finished_at = lease_ends, lease = null
      where finished_at is null and state = 'confirmed' and lease_ends < $1 and id in (
        select id from tollhouse_payment
        where finished_at is null and state = 'confirmed' and lease_ends < $1 and exists (
          select 1 from tollhouse_pass p where p.payment_id = tollhouse_payment.id and p.remaining = 0 and p.over_at < $1
            and not exists (select 1 from tollhouse_pass_debit where pass_id = p.id and request = p.payment_id))
        order by lease_ends limit $2)
      returning id`,
  },
  /**
   * A payment stays as long as the request that it paid: forgotten before it, it would leave the request unpaid. And as long as the pass is
   * good that it has bought: nobody would know what is owed of its price.
   */
  payments: {
    name: 'tollhouse_prune_payments',
    text: `delete from tollhouse_payment where id in (
        select id from tollhouse_payment
        where state = $3 and finished_at < $1 and (owed is null or accrued = 1 or state <> 'served') and not exists (
          select 1 from tollhouse_payment_request where tollhouse_payment_request.attempt = tollhouse_payment.id) and ${PASS_IS_OVER}
        order by finished_at limit $2)
      returning id`,
  },
} as const satisfies Record<string, Statement>;

/** See {@link PrunableLedger.prune}. */
export async function pruneLedger(
  database: SqlDatabase,
  before: number,
  limit: number,
  servedBefore: number = before,
): Promise<number> {
  const steps: readonly Step[] = [
    [PRUNE.requests, before, limit],
    [PRUNE.unsent, before, limit],
    [PRUNE.hadOtherwise, before, limit],
    [PRUNE.payments, before, limit, 'expired'],
    [PRUNE.payments, before, limit, 'failed'],
    [PRUNE.payments, servedBefore, limit, 'served'],
  ];
  let gone = 0;
  for (const step of steps) gone += (await database.query(...step)).length;
  return gone;
}
