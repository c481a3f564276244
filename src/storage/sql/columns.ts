import type { Row, SqlInput } from './sql-database.js';

/** A row to be written: each of its columns by name, so that none is forgotten, and none takes the place of another. */
export type ColumnValues<C extends string> = Readonly<Record<C, SqlInput>>;

/** The names of columns, in their order. */
export function namesOf<C extends string>(columns: Readonly<Record<C, unknown>>): readonly C[] {
  return Object.keys(columns) as C[];
}

/** The parameters that some columns come in: `$1, $2, …`. */
export function placesOf(columns: readonly string[]): string {
  return columns.map((_, at) => `$${at + 1}`).join(', ');
}

/** The values of a row for {@link placesOf}. */
export function valuesOf<C extends string>(columns: readonly C[], row: ColumnValues<C>): readonly SqlInput[] {
  return columns.map((column) => row[column]);
}

/** What a column of a row holds, as `read` reads it; undefined where that is null. */
export function orMissing<T>(
  value: Row[string] | undefined,
  read: (value: NonNullable<Row[string]>) => T,
): T | undefined {
  return value === null || value === undefined ? undefined : read(value);
}
