import { eventSteps } from '../events/event-statements.js';
import { PASSES } from '../passes/pass-statements.js';
import type { SqlDatabase, Statement, Step } from '../sql/sql-database.js';
import { summand } from '../sql/sql-sums.js';
import { refundEvent } from './refund-event.js';
import { REFUNDS } from './refund-statements.js';
import type { NewRefund, RefundRecord } from './refund-store.js';

const DEBITED = '(select amount from tollhouse_pass_debit where pass_id = $3 and request = $1)';
const LEFT = '(select remaining from tollhouse_pass where id = $3)';
/** What it took before, as far as it did; else what is left, and no more than it was to take. */
const TAKEN = `coalesce(${DEBITED},
  case when ${LEFT} < cast($11 as bigint) then ${LEFT} when ${LEFT} is null then 0 else cast($11 as bigint) end)`;
const BOOKED = '(select taken from tollhouse_refund where id = $2)';

/** Answers a row where it is booked by this. One that was signed otherwise stays as it is. */
const BOOK: Statement = {
  name: 'tollhouse_book_landed_refund',
  text: `insert into tollhouse_refund (id, payment_id, pass_id, network, wallet, recipient, owner, project_id, mint, amount, taken,
      state, created_at, updated_at, lease, lease_ends, signature, signed, blockhash, last_valid_block_height, signed_slot, slot)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, cast($10 as bigint), ${TAKEN},
      'paid', cast($12 as bigint), cast($12 as bigint), null, 0, $13, $14, $15, cast($16 as bigint), cast($17 as bigint),
      cast($17 as bigint))
    on conflict (id) do update set state = 'paid', amount = excluded.amount, taken = excluded.taken, updated_at = excluded.updated_at,
      lease = null, reason = null, signature = excluded.signature, signed = excluded.signed, blockhash = excluded.blockhash,
      last_valid_block_height = excluded.last_valid_block_height, signed_slot = excluded.signed_slot, slot = excluded.slot
    where tollhouse_refund.signature is null
    returning id`,
};

/** Whatever the state of the pass: one that was revoked has paid it back all the same. */
const TAKE: Statement = {
  name: 'tollhouse_take_for_landed_refund',
  text: `update tollhouse_pass set remaining = remaining - ${BOOKED},
      over_at = case when revoked_at is null and remaining = ${BOOKED} then cast($3 as bigint) else over_at end
    where id = $1 and ${BOOKED} > 0
      and not exists (select 1 from tollhouse_pass_debit where pass_id = $1 and request = $2)`,
};
const NOTE: Statement = {
  name: 'tollhouse_note_landed_refund',
  text: `insert into tollhouse_pass_debit (pass_id, request, amount, at)
    select pass_id, id, taken, cast($3 as bigint) from tollhouse_refund where id = $2 and pass_id = $1 and taken > 0
    on conflict do nothing`,
};

/** There is one at most that is under way; none counts where the landed one is booked already. */
const RIVAL = `(select id from tollhouse_refund where payment_id = $1 and id <> $2 and state in ('planned', 'taken')
  and not exists (select 1 from tollhouse_refund where id = $2 and signature is not null))`;
const RIVAL_TOOK = `(select amount from tollhouse_pass_debit where pass_id = $3 and request = ${RIVAL})`;
const GIVE_BACK: Statement = {
  name: 'tollhouse_rival_gives_back',
  text: `update tollhouse_pass set remaining = remaining + ${RIVAL_TOOK},
      over_at = case when revoked_at is null then ends_at else over_at end
    where id = $3 and ${RIVAL_TOOK} is not null`,
};
const END_DEBIT: Statement = {
  name: 'tollhouse_end_debit_of_rival',
  text: `delete from tollhouse_pass_debit where pass_id = $3 and request = ${RIVAL}`,
};
const FAIL: Statement = {
  name: 'tollhouse_fail_rival',
  text: `update tollhouse_refund set state = 'failed', reason = 'credit_used', updated_at = $3, lease = null where id = ${RIVAL}`,
};

/** Books it in one transaction: see `RefundStore`. The locks are taken in the order of the other statements over refunds. */
export async function bookLandedRefund(
  database: Pick<SqlDatabase, 'batchIf'>,
  refund: NewRefund & Required<Pick<RefundRecord, 'signed' | 'slot'>>,
  time: number,
): Promise<boolean> {
  const { id, paymentId, passId, network, wallet, recipient, owner, projectId = null, mint, signed, slot } = refund;
  const rival = [paymentId, id, passId] as const;
  const first: readonly Step[] = [
    [REFUNDS.turn],
    [PASSES.lock, passId],
    [GIVE_BACK, ...rival],
    [END_DEBIT, ...rival],
    [FAIL, paymentId, id, time],
  ];
  const named = [id, paymentId, passId, network, wallet, recipient, owner, projectId, mint] as const;
  const { signature, blockhash, lastValidBlockHeight } = signed;
  const amounts = [summand(refund.amount), summand(refund.taken), time] as const;
  const bytes = Buffer.from(signed.transaction).toString('base64');
  const guard = [BOOK, ...named, ...amounts, signature, bytes, blockhash, lastValidBlockHeight, slot] as const;
  const taken = [passId, id, time] as const;
  const told = eventSteps([refundEvent(refund, time)]);
  return (await database.batchIf(guard, [[TAKE, ...taken], [NOTE, ...taken], ...told], first)).length > 0;
}
