import type { Statement } from '../sql/sql-database.js';

/** Columns of a payout, as `toPayout` reads them. */
export const PAYOUT =
  'id, project_id, owner, network, wallet, mint, state, legs, total, signature, signed, blockhash, ' +
  'last_valid_block_height, signed_at, signed_slot, slot, reason, created_at, updated_at';
/** For `exactSum`: amounts are unsigned, so the upper half is taken as it is, without the sign that the database sees. */
const SUMS = 'sum((amount >> 32) & 4294967295) as high, sum(amount & 4294967295) as low';
const OPEN = `state in ('planned', 'created', 'broadcast')`;
const HELD = 'id = $1 and lease = $2';
const ACCOUNT = 'project_id = $1 and network = $2 and wallet = $3 and mint = $4';

/** How many payouts are asked for at once. */
export const IDS_AT_ONCE = 50;

/** The statements of the SQL payout book. A payout is `planned` until what it pays is summed up; nobody sees it then. */
export const PAYOUTS = {
  accruable: {
    name: 'tollhouse_payout_accruable',
    text: `select id, project_id, owner, network, asset, pay_to, owed, claimed_at from tollhouse_payment
      where owed is not null and accrued = 0 and state in ('confirmed', 'served')
        and project_id is not null and owner is not null
      order by id limit $1`,
  },
  addOwed: {
    name: 'tollhouse_payout_add_owed',
    text: `insert into tollhouse_owed (payment_id, recipient, project_id, owner, network, wallet, mint, amount, at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (payment_id, recipient) do nothing`,
  },
  markAccrued: {
    name: 'tollhouse_payout_mark_accrued',
    text: 'update tollhouse_payment set accrued = 1 where id = $1 and accrued = 0',
  },
  owed: {
    name: 'tollhouse_payout_owed',
    text: `select project_id, network, wallet, mint, recipient, ${SUMS}, count(*) as payments, min(at) as oldest_at,
        max(held) as held, max(held_until) as held_until
      from tollhouse_owed where project_id = $1 and payout_id is null
      group by project_id, network, wallet, mint, recipient order by wallet, mint, recipient`,
  },
  ready: {
    name: 'tollhouse_payout_ready',
    text: `select project_id, network, wallet, mint, ${SUMS}, min(at) as oldest_at
      from tollhouse_owed where network = $1 and wallet = $2 and payout_id is null and held_until <= $3
      group by project_id, network, wallet, mint order by project_id, mint`,
  },
  due: {
    name: 'tollhouse_payout_due',
    text: `select ${SUMS} from tollhouse_owed
        where network = $1 and wallet = $2 and mint = $3 and payout_id is null
      union all select ${SUMS} from tollhouse_owed
        where payout_id in (
          select id from tollhouse_payout where network = $1 and wallet = $2 and mint = $3 and ${OPEN})`,
  },
  hold: {
    name: 'tollhouse_payout_hold',
    text: `update tollhouse_owed set held = $6, held_until = $7 where ${ACCOUNT} and recipient = $5 and payout_id is null`,
  },
  insert: {
    name: 'tollhouse_payout_insert',
    text: `insert into tollhouse_payout (project_id, network, wallet, mint, id, owner, state, legs, total, created_at, updated_at)
      values ($1, $2, $3, $4, $5, '', 'planned', '[]', '0', $6, $6)`,
  },
  claim: {
    name: 'tollhouse_payout_claim',
    text: `update tollhouse_owed set payout_id = $5, held = null, held_until = 0
      where ${ACCOUNT} and recipient in ($6, $7, $8, $9, $10, $11, $12, $13) and payout_id is null`,
  },
  legs: {
    name: 'tollhouse_payout_legs',
    text: `select recipient, max(owner) as owner, ${SUMS} from tollhouse_owed where payout_id = $1
      group by recipient order by recipient`,
  },
  create: {
    name: 'tollhouse_payout_create',
    text: `update tollhouse_payout set state = 'created', owner = $2, legs = $3, total = $4
      where id = $1 and state = 'planned' returning id`,
  },
  forget: {
    name: 'tollhouse_payout_forget',
    text: `delete from tollhouse_payout where id = $1 and state = 'planned'`,
  },
  find: { name: 'tollhouse_payout_find', text: `select ${PAYOUT} from tollhouse_payout where id = $1` },
  take: {
    name: 'tollhouse_payout_take',
    text: `update tollhouse_payout set lease = $2, lease_ends = $3
      where id in (
          select id from tollhouse_payout where network = $1 and ${OPEN} and lease_ends <= $4
          order by created_at, id limit $5)
        and ${OPEN} and lease_ends <= $4
      returning ${PAYOUT}`,
  },
  takeOne: {
    name: 'tollhouse_payout_take_one',
    text: `update tollhouse_payout set lease = $2, lease_ends = $3
      where id = $1 and ${OPEN} and (lease is null or lease_ends <= $4) returning ${PAYOUT}`,
  },
  held: {
    name: 'tollhouse_payout_held',
    text: `select id, lease, lease_ends from tollhouse_payout
      where ${OPEN} and lease is not null and lease_ends > $1 order by created_at, id limit 100`,
  },
  end: {
    name: 'tollhouse_payout_end_lease',
    text: `update tollhouse_payout set lease = null, lease_ends = 0 where ${HELD} and ${OPEN} returning id`,
  },
  unfinished: {
    name: 'tollhouse_payout_unfinished',
    text: `select ${PAYOUT} from tollhouse_payout where ${OPEN} and state <> 'planned' order by created_at, id limit $1`,
  },
  signatures: {
    name: 'tollhouse_payout_signatures',
    text: `select id, signature from tollhouse_payout
      where signature is not null and id in (${Array.from({ length: IDS_AT_ONCE }, (_, at) => `$${at + 1}`).join()})`,
  },
  owedSince: {
    name: 'tollhouse_payout_owed_since',
    text: `select min(at) as at from tollhouse_owed where network = $1 and wallet = $2 and (payout_id is null
      or payout_id in (select id from tollhouse_payout where network = $1 and wallet = $2 and ${OPEN}))`,
  },
  owedByAll: {
    name: 'tollhouse_payout_owed_by_all',
    text: `select project_id, network, wallet, mint, recipient, ${SUMS}, count(*) as payments, min(at) as oldest_at,
        max(held) as held, max(held_until) as held_until
      from tollhouse_owed where payout_id is null
      group by project_id, network, wallet, mint, recipient order by min(at), project_id, mint, recipient limit $1`,
  },
  heldBack: {
    name: 'tollhouse_payout_held_back',
    text: `select project_id, network, wallet, mint, recipient, ${SUMS}, count(*) as payments, min(at) as oldest_at,
        max(held) as held, max(held_until) as held_until
      from tollhouse_owed where payout_id is null
      group by project_id, network, wallet, mint, recipient having max(held) is not null
      order by min(at), project_id, mint, recipient limit $1`,
  },
  recordSigned: {
    name: 'tollhouse_payout_record_signed',
    text: `update tollhouse_payout set state = 'broadcast', signature = $3, signed = $4, blockhash = $5,
        last_valid_block_height = $6, signed_at = $7, updated_at = $7, signed_slot = $8
      where ${HELD} and state = 'created' returning id`,
  },
  recordPaid: {
    name: 'tollhouse_payout_record_paid',
    text: `update tollhouse_payout set state = 'paid', slot = $3, updated_at = $4, reason = null, lease = null
      where ${HELD} and state = 'broadcast' returning id`,
  },
  recordFailed: {
    name: 'tollhouse_payout_record_failed',
    text: `update tollhouse_payout set state = 'failed', reason = $3, updated_at = $4, lease = null
      where ${HELD} and state in ('created', 'broadcast') and coalesce(signature, '') = $5 returning id`,
  },
  freeOwed: {
    name: 'tollhouse_payout_free_owed',
    text: 'update tollhouse_owed set payout_id = null where payout_id = $1',
  },
  holdFreed: {
    name: 'tollhouse_payout_hold_freed',
    text: `update tollhouse_owed set held = $2, held_until = $3 where payout_id = $1 and (recipient = $4 or $4 = '')`,
  },
  release: {
    name: 'tollhouse_payout_release',
    text: `update tollhouse_payout set lease = null, lease_ends = $3, reason = $4 where ${HELD} and ${OPEN} returning id`,
  },
  list: {
    name: 'tollhouse_payout_list',
    text: `select ${PAYOUT} from tollhouse_payout
      where project_id = $1 and state <> 'planned' and (created_at, id) < ($2, $3)
      order by created_at desc, id desc limit $4`,
  },
  ownerOf: {
    name: 'tollhouse_payout_owner',
    text: `select owner from tollhouse_owed where project_id = $1 and payout_id is null
      union all select owner from tollhouse_payout where project_id = $1 and state <> 'planned' limit 1`,
  },
  prune: {
    name: 'tollhouse_payout_prune',
    text: `delete from tollhouse_owed where (payment_id, recipient) in (
        select payment_id, recipient from tollhouse_owed
        where payout_id in (select id from tollhouse_payout where state = 'paid' and updated_at < $1)
        limit $2)
      returning payment_id`,
  },
} as const satisfies Record<string, Statement>;
