import { inGroups } from '../../lib/work/in-groups.js';
import { codeOf } from './driver-error.js';
import type { SqlDatabase, SqlInput, Statement } from './sql-database.js';

/** Type of a column of rows that go to Postgres as JSON. */
export type JsonType = 'text' | 'bigint' | 'integer' | 'json';

/** A row as JSON: 64-bit integers are texts in it, and `json` columns hold rows. */
export type JsonRow = { readonly [column: string]: string | number | null | readonly JsonRow[] };

/** How many go to the database together at most. */
const MOST = 100;
/** Classes of SQLSTATE that say what is wrong with the rows themselves, or that others were in their way. */
const OF_ONE = new Set(['21', '22', '23', '40', '54']);

/** SQL of rows that come as JSON in a parameter or a column of type `json`. */
export function jsonRows(source: string, name: string, columns: Readonly<Record<string, JsonType>>): string {
  const types = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
  return `json_to_recordset(${source}) as ${name}(${types.join(', ')})`;
}

/** The columns of a row as a row of {@link jsonRows}. */
export function jsonRow(columns: Readonly<Record<string, SqlInput>>): JsonRow {
  const row: Record<string, string | number | null> = {};
  for (const [column, value] of Object.entries(columns)) {
    row[column] = typeof value === 'number' || value === null ? value : String(value);
  }
  return row;
}

/**
 * Runs one statement of Postgres for many who come at the same time: each brings a row, and whoever comes while it runs goes
 * with the next. One statement, of one message, costs this process less than a transaction of many.
 * @param statement - takes the rows as JSON in `$1`, each with its number `n`, and answers the `n` of those that it is done for
 */
export function jsonGroups(database: SqlDatabase, statement: Statement): (row: JsonRow) => Promise<boolean> {
  return inGroups<JsonRow, boolean>({
    most: MOST,
    isOfOne: (error) => OF_ONE.has(codeOf(Reflect.get(Object(error), 'cause')).slice(0, 2)),
    async run(rows) {
      const done = await database.query(statement, JSON.stringify(rows.map((row, n) => ({ n, ...row }))));
      const numbers = new Set(done.map(({ n }) => Number(n)));
      return rows.map((_, n) => numbers.has(n));
    },
  });
}
