import type { Statement } from './sql-database.js';

/** Columns of a payment, as `toPayment` reads them. */
export const PAYMENT =
  'id, state, binding, payer, network, asset, amount, pay_to, terms, signature, blockhash, last_valid_block_height, ' +
  'slot, reason, claimed_at, finished_at, owner, project_id, owed';
const REQUEST = 'id, network, amount, pay_to, details, created_at, expires_at, attempt';

/** What a claim does not know of its payment already. */
const LIFE = 'state, claimed_at, signature, last_valid_block_height, slot, reason, owner, project_id, owed';

/** Held by the lease `$2`, and not over. */
const HELD = 'id = $1 and lease = $2 and finished_at is null';
/** Money that has landed stays landed, whatever its holder says afterwards. */
const UNPAID = `state <> 'confirmed'`;

/** The statements of the SQL ledger, the same for every database. A payment is over when `finished_at` is set. */
export const LEDGER = {
  /** Takes a payment that nobody holds any more, for what it was made for. */
  takeOver: {
    name: 'tollhouse_take_over',
    text: `update tollhouse_payment set lease = $2, lease_ends = $5
      where id = $1 and finished_at is null and binding = $3 and (lease is null or lease_ends <= $4)
      returning ${LIFE}`,
  },
  find: { name: 'tollhouse_find', text: `select ${PAYMENT} from tollhouse_payment where id = $1` },
  recordBroadcast: {
    name: 'tollhouse_record_broadcast',
    text: `update tollhouse_payment set state = 'broadcast', signature = coalesce($3, signature),
        last_valid_block_height = coalesce($4, last_valid_block_height)
      where ${HELD} and ${UNPAID} returning id`,
  },
  withdrawBroadcast: {
    name: 'tollhouse_withdraw_broadcast',
    text: `update tollhouse_payment set state = 'claimed' where ${HELD} and ${UNPAID} returning id`,
  },
  recordConfirmed: {
    name: 'tollhouse_record_confirmed',
    text: `update tollhouse_payment set state = 'confirmed', slot = $3, signature = $4 where ${HELD} returning id`,
  },
  recordLost: {
    name: 'tollhouse_record_lost',
    text: `update tollhouse_payment set state = $3, reason = $4, finished_at = $5, lease = null
      where ${HELD} and ${UNPAID} returning id`,
  },
  complete: {
    name: 'tollhouse_complete',
    text: `update tollhouse_payment set state = 'served', finished_at = $3, lease = null where ${HELD} returning id`,
  },
  forgetUnsent: {
    name: 'tollhouse_forget_unsent',
    text: `delete from tollhouse_payment where ${HELD} and state = 'claimed' returning id`,
  },
  release: {
    name: 'tollhouse_release',
    text: `update tollhouse_payment set lease = null where ${HELD} returning id`,
  },
  extend: {
    name: 'tollhouse_extend',
    text: `update tollhouse_payment set lease_ends = $3 where ${HELD} returning id`,
  },
  /**
   * Where nobody holds a payment, `lease_ends` tells when it may be looked at again. The condition stands outside as well:
   * who had to wait for another's update must see that its rows are taken.
   */
  takeUnresolved: {
    name: 'tollhouse_take_unresolved',
    text: `update tollhouse_payment set lease = null, lease_ends = $3
      where finished_at is null and state = 'broadcast' and lease_ends <= $2 and id in (
        select id from tollhouse_payment
        where finished_at is null and state = 'broadcast' and lease_ends <= $2 and network = $1
          and signature is not null
        order by lease_ends limit $4)
      returning ${PAYMENT}`,
  },
  saveRequest: {
    name: 'tollhouse_save_request',
    text: `insert into tollhouse_payment_request (${REQUEST}, reference) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict (id) do nothing returning id`,
  },
  findRequestByReference: {
    name: 'tollhouse_find_request_by_reference',
    text: `select ${REQUEST} from tollhouse_payment_request where reference in ($1, $2, $3, $4, $5, $6, $7, $8)`,
  },
  findRequest: {
    name: 'tollhouse_find_request',
    text: `select ${REQUEST} from tollhouse_payment_request where id = $1`,
  },
  /** Changes nothing; whoever else wants to attach a payment waits for the end of the transaction. */
  lockRequest: {
    name: 'tollhouse_lock_request',
    text: 'update tollhouse_payment_request set attempt = attempt where id = $1',
  },
  /** A payment that was never sent and whose holder is gone makes place, and its holder, should it come back, loses it. */
  forgetAbandoned: {
    name: 'tollhouse_forget_abandoned',
    text: `delete from tollhouse_payment
      where id = (select attempt from tollhouse_payment_request where id = $1) and id <> $2
        and state = 'claimed' and lease_ends <= $3`,
  },
  attach: {
    name: 'tollhouse_attach',
    text: `update tollhouse_payment_request set attempt = $2
      where id = $1 and not exists (
        select 1 from tollhouse_payment
        where tollhouse_payment.id = tollhouse_payment_request.attempt
          and tollhouse_payment.state not in ('expired', 'failed'))`,
  },
  attempt: {
    name: 'tollhouse_attempt',
    text: 'select attempt from tollhouse_payment_request where id = $1',
  },
} as const satisfies Record<string, Statement>;
