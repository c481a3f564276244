import type { NetworkId } from '../../protocol/types.js';
import { amountOf, legsToSql } from '../ledger/payment-rows.js';
import type { Row, SqlDatabase, Statement, Step } from '../sql/sql-database.js';
import type { LandedPayout, PayoutRecord } from './payout-store.js';

const OPEN_ROWS: Statement = {
  name: 'tollhouse_landed_open_rows',
  text: `select payment_id, recipient, project_id, owner, amount, at from tollhouse_owed
    where network = $1 and wallet = $2 and mint = $3 and recipient = $4 and (payout_id is null or payout_id = $5)
    order by at, payment_id`,
};
/** A payout that was never signed, as far as these books know, is the one that landed. */
const BOOK: Statement = {
  name: 'tollhouse_landed_book',
  text: `insert into tollhouse_payout (id, project_id, owner, network, wallet, mint, state, legs, total, signature, signed,
      blockhash, last_valid_block_height, signed_at, slot, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, 'paid', $7, $8, $9, '', $10, 0, $11, $12, $11, $11)
    on conflict (id) do update set project_id = excluded.project_id, owner = excluded.owner, state = 'paid',
      legs = excluded.legs, total = excluded.total, signature = excluded.signature, signed = excluded.signed,
      blockhash = excluded.blockhash, last_valid_block_height = 0, signed_at = excluded.signed_at,
      slot = excluded.slot, updated_at = excluded.updated_at, reason = null, lease = null
    where tollhouse_payout.signature is null
    returning id`,
};
const FREE: Statement = {
  name: 'tollhouse_landed_free',
  text: 'update tollhouse_owed set payout_id = null where payout_id = $1',
};
const TAKE: Statement = {
  name: 'tollhouse_landed_take',
  text: `update tollhouse_owed set payout_id = $3, held = null, held_until = 0
    where payment_id = $1 and recipient = $2 and payout_id is null`,
};
const RELEASE: Statement = {
  name: 'tollhouse_landed_release',
  text: `update tollhouse_owed set held = null, held_until = 0
    where network = $1 and wallet = $2 and mint = $3 and payout_id is null and held = 'unknown_payout'`,
};

/** What is owed that a landed payout has paid. */
export interface LandedMatch {
  readonly projectId: string;
  readonly owner: string;
  readonly rows: readonly Row[];
  /** What it has paid beside them, atomic units: for payments that the books do not have. */
  readonly beyond: bigint;
}

/**
 * What one project owes that a payout has paid: to the atomic unit, the oldest first. Where that fits no project, it is what
 * was owed by one, and no other, before it landed, when it has paid at least that: a payout pays all that is owed.
 */
export async function matchLanded(
  database: SqlDatabase,
  network: NetworkId,
  { id, wallet, mint, legs, blockTime = 0 }: LandedPayout,
): Promise<LandedMatch | undefined> {
  const open = await Promise.all(
    legs.map(({ recipient }) => database.query(OPEN_ROWS, network, wallet, mint, recipient, id)),
  );
  const projects = [...new Set(open.flat().map((row) => String(row.project_id)))];
  const total = legs.reduce((sum, { amount }) => sum + amount, 0n);
  const matches = (rowsOf: (rows: readonly Row[], amount: bigint) => readonly Row[] | undefined) =>
    projects.flatMap((projectId): readonly LandedMatch[] => {
      const own = open.map((rows) => rows.filter((it) => it.project_id === projectId));
      const paid = legs.map(({ amount }, index) => rowsOf(own[index] ?? [], amount));
      const rows = paid.flatMap((it) => it ?? []);
      if (rows.length === 0 || paid.includes(undefined)) return [];
      return [{ projectId, owner: String(rows[0]?.owner), rows, beyond: total - sumOf(rows) }];
    });
  const [exact] = matches(oldestUpTo);
  if (exact !== undefined) return exact;
  const [older, ...others] = matches((rows, amount) => {
    const before = rows.filter(({ at }) => Number(at) <= blockTime);
    return sumOf(before) <= amount ? before : undefined;
  });
  return others.length === 0 ? older : undefined;
}

/** The oldest rows that sum to an amount; undefined where none do. */
function oldestUpTo(rows: readonly Row[], amount: bigint): readonly Row[] | undefined {
  let sum = 0n;
  const count = rows.findIndex((row) => {
    sum += amountOf(row.amount);
    return sum >= amount;
  });
  return count >= 0 && sum === amount ? rows.slice(0, count + 1) : undefined;
}

function sumOf(rows: readonly Row[]): bigint {
  return rows.reduce((sum, row) => sum + amountOf(row.amount), 0n);
}

/**
 * Books a payout that has landed as paid, with what it has paid, in one transaction. What was held back because of it may be
 * paid again.
 * @param tell - steps that write its events
 * @returns whether it was booked: false when these books know another transaction of it
 */
export async function bookLanded(
  database: SqlDatabase,
  payout: PayoutRecord,
  { rows }: LandedMatch,
  tell: readonly Step[],
): Promise<boolean> {
  const { id, projectId, owner, network, wallet, mint, legs, total, signed, slot = 0, updatedAt } = payout;
  const about = [id, projectId, owner, network, wallet, mint, legsToSql(legs), String(total)] as const;
  const guard: Step = [BOOK, ...about, signed?.signature ?? '', signed?.blockhash ?? '', updatedAt, slot];
  const booked = await database.batchIf(guard, [
    [FREE, id],
    ...rows.map((row): Step => [TAKE, String(row.payment_id), String(row.recipient), id]),
    [RELEASE, network, wallet, mint],
    ...tell,
  ]);
  return booked.length > 0;
}
