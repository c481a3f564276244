import type { CountingDatabase, SqlInput, Statement } from '../sql/sql-database.js';
import type { Counters } from './counters.js';
import { bytesOf, increments, textOf } from './sql-increments.js';

/** Counters that can forget what has expired. */
export interface PrunableCounters extends Counters {
  /**
   * Forgets what has expired, at most `limit` entries of each kind. Call it until it answers 0.
   * @returns how many entries went
   */
  prune(limit: number): Promise<number>;
}

const LIVE_VALUE = 'key = $1 and expires_at > $2';
const KINDS = ['mark', 'value', 'count'] as const;

/** The statements of the SQL counters, the same for every database. An entry that has expired is as good as none. */
const COUNTERS = {
  take: {
    name: 'tollhouse_take',
    text: `insert into tollhouse_mark (key, expires_at) values ($1, $2)
      on conflict (key) do update set expires_at = excluded.expires_at where tollhouse_mark.expires_at <= $3
      returning expires_at`,
  },
  taken: {
    name: 'tollhouse_taken',
    text: 'select expires_at from tollhouse_mark where key in ($1, $2, $3, $4) and expires_at > $5 limit 1',
  },
  put: {
    name: 'tollhouse_put',
    text: `insert into tollhouse_value (key, value, expires_at) values ($1, $2, $3)
      on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at`,
  },
  get: { name: 'tollhouse_get', text: `select value from tollhouse_value where ${LIVE_VALUE}` },
  replace: {
    name: 'tollhouse_replace',
    text: `update tollhouse_value set value = $4, expires_at = $5 where ${LIVE_VALUE} and value = $3 returning expires_at`,
  },
  add: {
    name: 'tollhouse_add',
    text: `insert into tollhouse_value (key, value, expires_at) values ($1, $2, $3)
      on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at
        where tollhouse_value.expires_at <= $4
      returning expires_at`,
  },
  remove: { name: 'tollhouse_remove', text: 'delete from tollhouse_value where key = $1' },
  decrement: {
    name: 'tollhouse_decrement',
    text: 'update tollhouse_count set count = count - 1 where key = $1 and count > 0 and expires_at > $2',
  },
  reset: { name: 'tollhouse_reset', text: 'delete from tollhouse_count where key = $1' },
} as const satisfies Record<string, Statement>;

const PRUNE: readonly Statement[] = KINDS.map((kind) => ({
  name: `tollhouse_prune_${kind}`,
  text: `delete from tollhouse_${kind}
    where key in (select key from tollhouse_${kind} where expires_at <= $1 order by expires_at limit $2)
      and expires_at <= $1
    returning key`,
}));

/** How many keys one statement of {@link Counters.anyTaken} looks for. */
const KEYS_AT_ONCE = 4;

/**
 * Counters on SQLite or Postgres. The database is not closed with them.
 * @param now - clock, milliseconds since the epoch
 */
export function createSqlCounters(database: CountingDatabase, now: () => number = Date.now): PrunableCounters {
  async function changes(statement: Statement, ...values: SqlInput[]): Promise<boolean> {
    return (await database.queryApart(statement, ...values)).length > 0;
  }

  async function anyTaken(keys: readonly string[]): Promise<boolean> {
    for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
      if (await changes(COUNTERS.taken, ...fourOf(keys.slice(at, at + KEYS_AT_ONCE)), now())) return true;
    }
    return false;
  }

  async function get(key: string): Promise<string | undefined> {
    const [row] = await database.queryApart(COUNTERS.get, bytesOf(key), now());
    return row === undefined ? undefined : textOf(row.value);
  }

  async function prune(limit: number): Promise<number> {
    let gone = 0;
    for (const statement of PRUNE) gone += (await database.queryApart(statement, now(), limit)).length;
    return gone;
  }

  return {
    anyTaken,
    get,
    increment: increments(database, now),
    prune,
    takeOnce: (key, ttlMs) => {
      const time = now();
      return changes(COUNTERS.take, bytesOf(key), time + Math.ceil(ttlMs), time);
    },
    put: async (key, value, ttlMs) =>
      void (await database.queryApart(COUNTERS.put, bytesOf(key), bytesOf(value), now() + Math.ceil(ttlMs))),
    replace: (key, expected, value, ttlMs) => {
      const time = now();
      const endsAt = time + Math.ceil(ttlMs);
      return expected === undefined
        ? changes(COUNTERS.add, bytesOf(key), bytesOf(value), endsAt, time)
        : changes(COUNTERS.replace, bytesOf(key), time, bytesOf(expected), bytesOf(value), endsAt);
    },
    remove: async (key) => void (await database.queryApart(COUNTERS.remove, bytesOf(key))),
    decrement: async (key) => void (await database.queryApart(COUNTERS.decrement, bytesOf(key), now())),
    reset: async (key) => void (await database.queryApart(COUNTERS.reset, bytesOf(key))),
    close: async () => {},
  };
}

/** Places that are left over ask for the first key once more. */
function fourOf(keys: readonly string[]): Uint8Array[] {
  return Array.from({ length: KEYS_AT_ONCE }, (_, at) => bytesOf(keys[at] ?? keys[0] ?? ''));
}
