import type { SqlDatabase, Statement } from '../sql/sql-database.js';
import { type HeldTimes, MAX_HELD } from './held-times.js';

/** The statements of the held times, the same for every database. */
const HELD = {
  seen: {
    name: 'tollhouse_held_seen',
    text: `update tollhouse_held set
        since = case when seen_at >= $4 then since else $3 end,
        seen_at = case when seen_at > $3 then seen_at else $3 end
      where rule = $1 and wallet = $2
      returning since`,
  },
  first: {
    name: 'tollhouse_held_first',
    text: `insert into tollhouse_held (rule, wallet, since, seen_at, looked_at)
      select $1, $2, $3, $3, $3
      where (select count(*) from tollhouse_held where rule = $1) < $4
      on conflict (rule, wallet) do nothing`,
  },
  lost: { name: 'tollhouse_held_lost', text: 'delete from tollhouse_held where rule = $1 and wallet = $2' },
  take: {
    name: 'tollhouse_held_take',
    text: `update tollhouse_held set looked_at = $3
      where rule = $1 and looked_at < $2 and wallet in (
        select wallet from tollhouse_held where rule = $1 and looked_at < $2 order by looked_at limit $4)
      returning wallet`,
  },
  prune: {
    name: 'tollhouse_held_prune',
    text: `delete from tollhouse_held
      where (rule, wallet) in (select rule, wallet from tollhouse_held where seen_at < $1 order by seen_at limit $2)
        and seen_at < $1
      returning wallet`,
  },
} as const satisfies Record<string, Statement>;

/** The times on SQLite or Postgres, shared by all instances. The database is not closed with them. */
export function createSqlHeldTimes(database: SqlDatabase, maxHeld = MAX_HELD): HeldTimes {
  return {
    async seen({ rule, wallet, at, gapMs }) {
      const [row] = await database.query(HELD.seen, rule, wallet, at, at - gapMs);
      if (row !== undefined) return Number(row.since);
      await database.query(HELD.first, rule, wallet, at, maxHeld);
      return at;
    },
    lost: async (rule, wallet) => void (await database.query(HELD.lost, rule, wallet)),
    async takeDue(rule, before, at, limit) {
      const rows = await database.query(HELD.take, rule, before, at, limit);
      return rows.map(({ wallet }) => String(wallet));
    },
    prune: async (before, limit) => (await database.query(HELD.prune, before, limit)).length,
  };
}
