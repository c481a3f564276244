import type { Dialect } from '../sql-database.js';

/** A migration, one step of the schema: its SQL statements, without parameters, in order. */
export type SchemaStep = (dialect: Dialect) => readonly string[];

/** Types of columns that the databases name differently. */
export function columnTypes(dialect: Dialect) {
  const isPostgres = dialect === 'postgres';
  return {
    /** Bytes are compared, not letters of a language: faster, and the same in both databases. */
    text: isPostgres ? 'text collate "C"' : 'text',
    bytes: isPostgres ? 'bytea' : 'blob',
    /** A number that the database gives, rising; the primary key. */
    serial: isPostgres ? 'bigint generated always as identity' : 'integer',
  };
}

/** What a table has beside its columns. */
export interface TableParts {
  /** What is made. Default `table`. */
  readonly kind?: string;
  /** A key of several columns, with its name. */
  readonly constraint?: string;
  /** What goes behind the definition. */
  readonly end?: string;
}

/**
 * The statement that makes a table. SQLite keeps its text as the schema: names in quotes, all on one line, as ever.
 * @param columns - name → type, and what else is said of the column
 */
export function createTable(name: string, columns: Readonly<Record<string, string>>, parts: TableParts = {}): string {
  const { kind = 'table', constraint, end } = parts;
  const definitions = Object.entries(columns).map(([column, type]) => `"${column}" ${type}`);
  if (constraint !== undefined) definitions.push(`constraint ${constraint}`);
  const table = `create ${kind} "${name}" (${definitions.join(', ')})`;
  return end === undefined ? table : `${table} ${end}`;
}
