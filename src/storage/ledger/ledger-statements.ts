import { placesOf } from '../sql/columns.js';
import type { Statement } from '../sql/sql-database.js';
import { REQUEST_COLUMNS } from './payment-rows.js';
import { MOST_PURCHASES } from './payment-use.js';

/** Columns of a payment, as `toPayment` reads them. */
export const PAYMENT =
  'id, state, binding, fingerprint, retry_hash, admitted, reruns, payer, network, asset, amount, pay_to, terms, signature, blockhash, ' +
  'last_valid_block_height, slot, reason, claimed_at, finished_at, owner, project_id, owed, legs, buys';
const REQUEST = REQUEST_COLUMNS.join(', ');
/** The columns that `saveRequest` writes. */
export const NEW_REQUEST = [...REQUEST_COLUMNS, 'reference', 'look_at'] as const;

/** What a claim does not know of its payment already. */
const LIFE =
  'state, fingerprint, retry_hash, admitted, reruns, claimed_at, signature, last_valid_block_height, slot, reason, owner, project_id, owed, legs, buys';

/** Held by the lease `$2`, and not over. */
const HELD = 'id = $1 and lease = $2 and finished_at is null';
/** Money that has landed stays landed, whatever its holder says afterwards. */
const UNPAID = `state <> 'confirmed'`;

/** How many accounts are looked for among the references at once. */
export const REFERENCES_AT_ONCE = 32;
const REFERENCES = Array.from({ length: REFERENCES_AT_ONCE }, (_, at) => `$${at + 1}`).join(', ');

/** What was bound to a request before December 2026 names no host: see `payment-use.ts`. */
const BEFORE_HOSTS = 'fingerprint = substr($6, 1, 64)';

/** The statements of the SQL ledger, the same for every database. A payment is over when `finished_at` is set. */
export const LEDGER = {
  /** Takes a payment that nobody holds any more, for the very use that it is bound to. */
  takeOver: {
    name: 'tollhouse_take_over',
    text: `update tollhouse_payment set lease = $2, lease_ends = $5
      where id = $1 and finished_at is null and binding = $3 and (lease is null or lease_ends <= $4)
        and (fingerprint is not distinct from $6 or ${BEFORE_HOSTS}) and retry_hash is not distinct from $7
      returning ${LIFE}`,
  },
  /** The same where it is not bound to a request, or to a secret, yet: binds it to those of the claim. */
  bind: {
    name: 'tollhouse_bind',
    text: `update tollhouse_payment set lease = $2, lease_ends = $5,
        fingerprint = coalesce(fingerprint, $6), retry_hash = coalesce(retry_hash, $7), admitted = coalesce(admitted, $8)
      where id = $1 and finished_at is null and binding = $3 and (lease is null or lease_ends <= $4)
        and (fingerprint is null or fingerprint = $6 or ${BEFORE_HOSTS}) and (retry_hash is null or retry_hash = $7)
        and (fingerprint is distinct from $6 or retry_hash is distinct from $7)
      returning ${LIFE}`,
  },
  /** Frees a payment whose holder is gone and was last heard of long enough ago. */
  inherit: {
    name: 'tollhouse_inherit',
    text: `update tollhouse_payment set lease = null
      where id = $1 and lease = $2 and lease_ends <= $3 and finished_at is null returning id`,
  },
  /** Never sent, and held by nobody: it is as if it had never been brought, and may be brought for another use. */
  forgetAbandonedOne: {
    name: 'tollhouse_forget_abandoned_one',
    text: `delete from tollhouse_payment
      where id = $1 and state = 'claimed' and finished_at is null and (lease is null or lease_ends <= $2) returning id`,
  },
  find: { name: 'tollhouse_find', text: `select ${PAYMENT}, lease from tollhouse_payment where id = $1` },
  recordBroadcast: {
    name: 'tollhouse_record_broadcast',
    text: `update tollhouse_payment set state = 'broadcast', signature = coalesce($3, signature),
        last_valid_block_height = coalesce($4, last_valid_block_height),
        lease_ends = case when lease_ends < $5 then $5 else lease_ends end
      where ${HELD} and ${UNPAID} returning id`,
  },
  recordLanded: {
    name: 'tollhouse_record_landed',
    text: `update tollhouse_payment set state = 'confirmed', slot = $3, signature = $4 where ${HELD} returning id`,
  },
  /** Nothing is owed any more: landed and used up in one step. */
  recordServed: {
    name: 'tollhouse_record_served',
    text: `update tollhouse_payment set state = 'served', slot = $3, signature = $4, finished_at = $5, lease = null
      where ${HELD} returning id`,
  },
  recordLost: {
    name: 'tollhouse_record_lost',
    text: `update tollhouse_payment set state = $3, reason = $4, finished_at = $5, lease = null
      where ${HELD} and ${UNPAID} returning id`,
  },
  served: {
    name: 'tollhouse_served',
    text: `update tollhouse_payment set state = 'served', finished_at = $3, lease = null
      where ${HELD} and state = 'confirmed' returning id`,
  },
  runAgain: {
    name: 'tollhouse_run_again',
    text: `update tollhouse_payment set reruns = coalesce(reruns, 0) + 1
      where ${HELD} and state = 'confirmed' and coalesce(reruns, 0) < $3 returning id`,
  },
  forget: {
    name: 'tollhouse_forget',
    text: `delete from tollhouse_payment where ${HELD} and ${UNPAID} returning id`,
  },
  keep: {
    name: 'tollhouse_keep',
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
  /** What is owed and held by nobody has no lease, however long ago its last one ended. */
  interrupted: {
    name: 'tollhouse_interrupted',
    text: `select ${PAYMENT} from tollhouse_payment
      where finished_at is null and state = 'confirmed' and lease_ends <= $2 and lease_ends > $3 and network = $1
        and lease is not null
      order by lease_ends limit $4`,
  },
  openPurchases: {
    name: 'tollhouse_open_purchases',
    text: `select ${PAYMENT} from tollhouse_payment
      where finished_at is null and state = 'broadcast' and payer = $1 and buys is not null limit ${MOST_PURCHASES}`,
  },
  saveRequest: {
    name: 'tollhouse_save_request',
    text: `insert into tollhouse_payment_request (${NEW_REQUEST.join(', ')}) values (${placesOf(NEW_REQUEST)})
      on conflict (id) do nothing returning id`,
  },
  findRequestByReference: {
    name: 'tollhouse_find_request_by_reference',
    text: `select ${REQUEST} from tollhouse_payment_request where reference in (${REFERENCES})`,
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
