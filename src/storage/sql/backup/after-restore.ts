import type { SqlDatabase, Statement } from '../sql-database.js';
import { putEventsFirst } from './event-places.js';
import { type LostPeriod, NOTE_MOMENT, readMoments } from './moments.js';
import { FORGET_SERVER } from './server-history.js';
import { MAKE_LAST_TABLE } from './unsettled.js';

/** What was begun and not over when the books end. */
export interface RestoredBooks extends LostPeriod {
  /** Payments that had landed and whose response was owed: it may have been given since, so they count as used now. Their ids. */
  readonly owed: readonly string[];
  /** How many payments had been sent: the chain is asked what became of them, and they buy nothing any more. */
  readonly sent: number;
  /** How many payments were claimed and not sent: they are forgotten, and are as good as any other that the chain knows. */
  readonly claimed: number;
}

const LAST_BOOKED: Statement = {
  name: 'tollhouse_last_booked',
  text: `select max(at) as at from (
      select max(claimed_at) as at from tollhouse_payment
      union all select max(finished_at) from tollhouse_payment
      union all select max(at) from tollhouse_event) booked`,
};
const COUNT_SENT: Statement = {
  name: 'tollhouse_count_sent',
  text: `select count(*) as count from tollhouse_payment where state = 'broadcast' and finished_at is null`,
};
const FORGET_CLAIMED: Statement = {
  name: 'tollhouse_forget_claimed',
  text: `delete from tollhouse_payment where state = 'claimed' and finished_at is null returning id`,
};
/** The time they ended is that of the restore: they are kept as long as others. */
const END_OWED: Statement = {
  name: 'tollhouse_end_owed',
  text: `update tollhouse_payment set state = 'served', finished_at = $1, lease = null
    where state = 'confirmed' and finished_at is null returning id`,
};

/**
 * Makes books that were restored safe to go on with. Of what was open when they end nobody knows whether it was served since: a payment
 * that had landed is used up, one that was not sent is forgotten. Until when they were complete and when they were restored is written down;
 * money that landed in between is booked as used by whoever finds it. Events keep their order, and come before all that will happen. Books
 * that were restored before, or are settled again, stay without what they lost then.
 * @param now - milliseconds since the epoch
 */
export async function settleRestored(database: SqlDatabase, now: number): Promise<RestoredBooks> {
  const [last] = await database.query(LAST_BOOKED);
  const moments = await readMoments(database);
  // The later of the two: the books have what they tell, and had all when the backup was begun.
  const complete = Math.max(Number(last?.at ?? 0), moments.get('backed_up') ?? 0);
  const from = Math.min(now, complete, moments.get('complete_until') ?? now);
  await putEventsFirst(database);
  const [sent, claimed, owed] = await database.batch([
    [COUNT_SENT],
    [FORGET_CLAIMED],
    [END_OWED, now],
    [NOTE_MOMENT, 'complete_until', from],
    [NOTE_MOMENT, 'restored', now],
    [FORGET_SERVER],
    ...MAKE_LAST_TABLE,
  ]);
  return {
    from,
    to: now,
    owed: (owed ?? []).map(({ id }) => String(id)),
    sent: Number(sent?.[0]?.count ?? 0),
    claimed: claimed?.length ?? 0,
  };
}
