import { PASSES } from '../passes/pass-statements.js';
import type { SqlInput, Statement, Step } from '../sql/sql-database.js';
import { summand } from '../sql/sql-sums.js';
import type { SignedPayout } from './payout-store.js';
import { REFUNDS } from './refund-statements.js';
import type { NewRefund } from './refund-store.js';

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

/** The steps of one transaction that books a refund which has landed, for `batchIf`. */
export interface LandedRefundSteps {
  readonly first: readonly Step[];
  readonly guard: Step;
  readonly steps: readonly Step[];
}

/** Makes them. The locks are taken in the order of the other statements over refunds. */
export function landedRefundSteps(
  refund: NewRefund & { readonly signed: SignedPayout; readonly slot: number },
  time: number,
): LandedRefundSteps {
  const { id, paymentId, passId, network, wallet, recipient, owner, projectId = null, mint, signed, slot } = refund;
  const { signature, transaction, blockhash, lastValidBlockHeight } = signed;
  const amounts = [summand(refund.amount), summand(refund.taken), time] as const;
  const named: readonly SqlInput[] = [id, paymentId, passId, network, wallet, recipient, owner, projectId, mint];
  const bytes = Buffer.from(transaction).toString('base64');
  return {
    first: [[REFUNDS.turn], [PASSES.lock, passId]],
    guard: [BOOK, ...named, ...amounts, signature, bytes, blockhash, lastValidBlockHeight, slot],
    steps: [
      [TAKE, passId, id, time],
      [NOTE, passId, id, time],
    ],
  };
}
