import type { SqlDatabase, Statement } from '../sql-database.js';

/**
 * The cluster, and its timeline, which begins anew where a standby is promoted or a server is recovered to a point in time. That of the
 * log that is written now: the one of the last checkpoint is of before for a while.
 */
const NOW = `with now as (
    select 'server_timeline' as name, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint as at
    union all select 'server_system', (pg_control_system()).system_identifier)`;
const LOOK: Statement = {
  name: 'tollhouse_look_at_server',
  text: `${NOW} select now.name, (known.at is not null)::int as changed from now left join tollhouse_moment known using (name)
    where known.at is distinct from now.at`,
};
const NOTE: Statement = {
  name: 'tollhouse_note_server',
  text: `${NOW} insert into tollhouse_moment (name, at) select name, at from now
    on conflict (name) do update set at = excluded.at`,
};
/** For books of which it was said that they are restored: wherever they are opened next is their server. */
export const FORGET_SERVER: Statement = {
  name: 'tollhouse_forget_server',
  text: `delete from tollhouse_moment where name in ('server_timeline', 'server_system')`,
};

const DETAIL =
  'The Postgres server is another one than these books were last open on: a standby that was promoted, or one that was recovered or copied. Where it may lack the last payments (an asynchronous standby, a snapshot, a point in time), or was filled from a dump, stop every process, run "npx tollhouse db restored", and start again; else what was paid just before could be served twice, and events of a dump stay hidden. Else there is nothing to do';

/**
 * Warns once, with `TOLLHOUSE_STORE_PROMOTED`, where a Postgres server is not the one that the books were last seen on: its last writes may be
 * missing, and nobody but its operator knows. Silent where the server does not tell, or takes no writes. Never rejects.
 */
export async function lookAtServer(database: Pick<SqlDatabase, 'query' | 'dialect'>): Promise<void> {
  if (database.dialect !== 'postgres') return;
  try {
    const other = await database.query(LOOK);
    if (other.length === 0) return;
    await database.query(NOTE);
    if (other.some(({ changed }) => Number(changed) === 1)) {
      process.emitWarning(DETAIL, { code: 'TOLLHOUSE_STORE_PROMOTED' });
    }
  } catch {
    // It is told at the next look.
  }
}
