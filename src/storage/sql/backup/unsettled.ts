import { badOption } from '../../../errors/errors.js';
import { MAKE_LOCK, type SchemaConnection } from '../migrate.js';
import type { Step } from '../sql-database.js';

/**
 * What a Postgres database holds of Tollhouse. `unsettled`: books that `pg_restore` has put there, and of which nobody has said yet what
 * they have lost: whoever opened them would serve again what was paid since the backup.
 */
export type BooksThere = 'none' | 'unsettled' | 'settled';

/**
 * The table that makes the difference: `pg_restore`, which goes on by itself where whoever has started it is killed, leaves it out, and
 * the transaction that settles the books makes it. Every backup has it, and nobody needs what is in it.
 */
const LAST_TABLE = 'tollhouse_migration_lock';

const LOOK = `select case when to_regclass('tollhouse_migration') is null then 'none'
  when to_regclass('${LAST_TABLE}') is null then 'unsettled' else 'settled' end as books`;

/** Makes it, in the transaction that settles the books. */
export const MAKE_LAST_TABLE: readonly Step[] = MAKE_LOCK.map((text, at) => [
  { name: `tollhouse_make_last_table_${at}`, text },
]);

/** What `pg_restore --list` prints of a dump, less what belongs to that table. */
export function withoutLastTable(list: string): string {
  const lines = list.split('\n').filter((line) => !line.includes(LAST_TABLE));
  return lines.join('\n');
}

/** Looks what there is, where `search_path` finds it. */
export async function lookForBooks({ run }: SchemaConnection): Promise<BooksThere> {
  const [row] = await run(LOOK);
  return row?.['books'] as BooksThere;
}

/** Throws `bad_option` where books were put there that are not settled. */
export async function refuseUnsettled(connection: SchemaConnection): Promise<void> {
  if ((await lookForBooks(connection)) !== 'unsettled') return;
  const detail =
    'the books in the database come from a restore that was broken off before it had marked what they have lost, so that payments could be ' +
    'served twice; run "npx tollhouse db restored", which does that, or restore the backup into an empty database';
  throw badOption('openStorage', detail, 'databaseUrl');
}
