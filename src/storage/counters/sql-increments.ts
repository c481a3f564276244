import { inGroups } from '../../lib/work/in-groups.js';
import { jsonRows } from '../sql/json-groups.js';
import type { CountingDatabase, Row, Statement } from '../sql/sql-database.js';
import type { Counters, WindowCount } from './counters.js';

/** One count more, or several. */
interface Increment {
  readonly key: string;
  readonly windowMs: number;
  readonly by: number;
}

/** How many go to the database together. */
const MOST = 100;

const ONE: Statement = {
  name: 'tollhouse_increment',
  text: `insert into tollhouse_count (key, count, expires_at) values ($1, $2, $3) ${counting('$4')}
    returning count, expires_at`,
};

/** In the order of their keys, so that nobody waits in a circle. */
const MANY: Statement = {
  name: 'tollhouse_increment_many',
  text: `insert into tollhouse_count (key, count, expires_at)
    select decode(name, 'base64') as key, by, expires_at
    from ${jsonRows('$1::json', 'entry', { name: 'text', by: 'bigint', expires_at: 'bigint' })}
    order by key ${counting('$2')}
    returning key, count, expires_at`,
};

/** What becomes of a count that there is already, at a time. */
function counting(time: string): string {
  return `on conflict (key) do update set
    count = case when tollhouse_count.expires_at > ${time} then tollhouse_count.count else 0 end + excluded.count,
    expires_at =
      case when tollhouse_count.expires_at > ${time} then tollhouse_count.expires_at else excluded.expires_at end`;
}

/** `increment` of counters on SQLite or Postgres, where those that come at the same time are one statement. */
export function increments(database: CountingDatabase, now: () => number): Counters['increment'] {
  const count =
    database.dialect === 'postgres'
      ? inGroups<Increment, WindowCount>({
          run: (some) => many(database, some, now()),
          most: MOST,
          isOfOne: () => false,
        })
      : (increment: Increment) => one(database, increment, now());
  return (key, windowMs, by = 1) => count({ key, windowMs: Math.ceil(windowMs), by });
}

async function one(database: CountingDatabase, { key, windowMs, by }: Increment, time: number): Promise<WindowCount> {
  return toCount(await database.queryApart(ONE, bytesOf(key), by, time + windowMs, time));
}

/** Those of one key are counted by one number, of which each has its part, in the order in which they came. */
async function many(
  database: CountingDatabase,
  some: readonly Increment[],
  time: number,
): Promise<readonly WindowCount[]> {
  const windows = new Map(some.toReversed().map(({ key, windowMs }) => [key, windowMs]));
  const left = new Map<string, number>();
  for (const { key, by } of some) left.set(key, (left.get(key) ?? 0) + by);
  const entries = [...left].map(([key, by]) => ({
    name: Buffer.from(key).toString('base64'),
    by,
    expires_at: time + (windows.get(key) ?? 0),
  }));
  const rows = await database.queryApart(MANY, JSON.stringify(entries), time);
  const counted = new Map(rows.map((row) => [textOf(row.key), toCount([row])]));
  return some.map(({ key, by }) => {
    const { count, resetsAt } = counted.get(key) ?? toCount([]);
    const after = (left.get(key) ?? 0) - by;
    left.set(key, after);
    return { count: count - after, resetsAt };
  });
}

function toCount([row]: readonly Row[]): WindowCount {
  return { count: Number(row?.count), resetsAt: Number(row?.expires_at) };
}

/** A key or a value as the database holds it: any text goes, also what is none in Postgres. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

/** A text from {@link bytesOf}. */
export function textOf(bytes: Row[string] | undefined): string {
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : '';
}
