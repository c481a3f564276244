import type { sql as Sql } from 'kysely';
import type { Dialect } from '../sql-database.js';

/** Types of columns that the databases name differently. */
export function columnTypes(sql: typeof Sql, dialect: Dialect) {
  const isPostgres = dialect === 'postgres';
  return {
    /** Bytes are compared, not letters of a language: faster, and the same in both databases. */
    text: isPostgres ? sql`text collate "C"` : sql`text`,
    bytes: isPostgres ? sql`bytea` : sql`blob`,
    /** A number that the database gives, rising; the primary key. */
    serial: isPostgres ? sql`bigint generated always as identity` : sql`integer`,
  };
}
