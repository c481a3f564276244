import type { Statement } from '../sql/sql-database.js';
import { MOST_REFUNDS } from './refund-store.js';

/** The columns of a refund, as its reader names them. */
export const REFUND_COLUMNS = [
  'id',
  'payment_id',
  'pass_id',
  'network',
  'wallet',
  'recipient',
  'owner',
  'project_id',
  'mint',
  'amount',
  'taken',
  'state',
  'signature',
  'signed',
  'blockhash',
  'last_valid_block_height',
  'signed_slot',
  'slot',
  'reason',
  'created_at',
  'updated_at',
] as const;

const REFUND = REFUND_COLUMNS.join(', ');
const OPEN = `state in ('planned', 'taken', 'broadcast')`;
const HELD = 'id = $1 and lease = $2';

/** The statements over refunds, the same for every database. */
export const REFUNDS = {
  /** Comes first: whoever begins a refund meanwhile waits, and counts this one. */
  turn: { name: 'tollhouse_refund_turn', text: `update tollhouse_refund_turn set id = id where id = 'turn'` },
  plan: {
    name: 'tollhouse_plan_refund',
    text: `insert into tollhouse_refund (id, payment_id, pass_id, network, wallet, recipient, owner, project_id, mint, amount, taken,
        state, created_at, updated_at, lease, lease_ends)
      select $1, $2, $3, $4, $5, $6, $7, $8, $9, cast($10 as bigint), cast($11 as bigint),
        'planned', cast($12 as bigint), cast($12 as bigint), $13, cast($14 as bigint)
      where not exists (select 1 from tollhouse_refund where id = $1 or (payment_id = $2 and ${OPEN}))
        and cast($10 as bigint) + (select coalesce(sum(amount), 0) from tollhouse_refund
          where network = $4 and mint = $9 and created_at > $15 and state <> 'failed') <= $16
      returning id`,
  },
  find: { name: 'tollhouse_find_refund', text: `select ${REFUND} from tollhouse_refund where id = $1` },
  ofPayment: {
    name: 'tollhouse_refunds_of_payment',
    text: `select ${REFUND} from tollhouse_refund where payment_id = $1
      order by created_at desc, id desc limit ${MOST_REFUNDS}`,
  },
  isHeld: {
    name: 'tollhouse_is_pass_held',
    text: `select request from tollhouse_pass_debit where pass_id = $1 and (at > $2 or request = $3)
        and not exists (select 1 from tollhouse_refund where id = tollhouse_pass_debit.request)
      limit 1`,
  },
  refundable: {
    name: 'tollhouse_refundable_passes',
    text: `select id, payment_id, bought from tollhouse_pass where wallet = $1 and id > $2 and remaining is not null
      order by id limit 100`,
  },
  isSearched: {
    name: 'tollhouse_refunds_searched',
    text: 'select at from tollhouse_moment where name = $1 and at = $2',
  },
  sumSince: {
    name: 'tollhouse_sum_refunds',
    text: `select coalesce(sum(amount), 0) as sum from tollhouse_refund
      where network = $1 and mint = $2 and created_at > $3 and state <> 'failed'`,
  },
  take: {
    name: 'tollhouse_take_refunds',
    text: `update tollhouse_refund set lease = $2, lease_ends = $3
      where id in (select id from tollhouse_refund where network = $1 and ${OPEN} and lease_ends <= $4
          order by created_at, id limit $5)
        and ${OPEN} and lease_ends <= $4
      returning ${REFUND}`,
  },
  held: {
    name: 'tollhouse_held_refunds',
    text: `select id, lease, lease_ends from tollhouse_refund
      where network = $1 and ${OPEN} and lease is not null and lease_ends > $2 order by created_at, id limit 100`,
  },
  end: {
    name: 'tollhouse_end_refund_lease',
    text: `update tollhouse_refund set lease = null, lease_ends = 0 where ${HELD} and ${OPEN} returning id`,
  },
  recordTaken: {
    name: 'tollhouse_refund_taken',
    text: `update tollhouse_refund set state = 'taken', updated_at = $3 where ${HELD} and state = 'planned' returning id`,
  },
  recordSigned: {
    name: 'tollhouse_refund_signed',
    text: `update tollhouse_refund set state = 'broadcast', signature = $3, signed = $4, blockhash = $5,
        last_valid_block_height = $6, updated_at = $7, signed_slot = $8
      where ${HELD} and state = 'taken' returning id`,
  },
  /** It never lands, and is to be signed anew. */
  recordExpired: {
    name: 'tollhouse_refund_expired',
    text: `update tollhouse_refund set state = 'taken', signature = null, signed = null, blockhash = null,
        last_valid_block_height = null, signed_slot = null, updated_at = $3, reason = null
      where ${HELD} and state = 'broadcast' returning id`,
  },
  recordPaid: {
    name: 'tollhouse_refund_paid',
    text: `update tollhouse_refund set state = 'paid', slot = $3, updated_at = $4, reason = null, lease = null
      where ${HELD} and state = 'broadcast' returning id`,
  },
  recordFailed: {
    name: 'tollhouse_refund_failed',
    text: `update tollhouse_refund set state = 'failed', reason = $3, updated_at = $4, lease = null
      where ${HELD} and ${OPEN} returning id`,
  },
  release: {
    name: 'tollhouse_release_refund',
    text: `update tollhouse_refund set lease = null, lease_ends = $3, reason = $4 where ${HELD} and ${OPEN} returning id`,
  },
} as const satisfies Record<string, Statement>;
