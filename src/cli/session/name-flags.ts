import { RefusedError } from '../command.js';

/** Options by the JSON pointers of the fields that they fill. */
export type FlagsByField = Readonly<Record<string, string>>;

/**
 * What a server refuses of a body that options have filled, told by the names of these options: who has typed `--slug` knows no `/slug`.
 * A fault inside a field is told by both.
 */
export async function namingFlags<T>(flags: FlagsByField, asked: Promise<T>): Promise<T> {
  return asked.catch((error: unknown) => {
    throw error instanceof RefusedError ? inFlags(error, flags) : error;
  });
}

/** What a server refuses of a query that flags have filled, told by the names of these flags. */
export function namingQuery<T>(query: URLSearchParams, asked: Promise<T>): Promise<T> {
  const flags = [...query.keys()].map((name) => [`/${name}`, `--${name.replace(/_id$/, '').replaceAll('_', '-')}`]);
  return namingFlags(Object.fromEntries(flags), asked);
}

function inFlags(refused: RefusedError, flags: FlagsByField): RefusedError {
  const { status, code, message, retryable, waitMs, fields } = refused;
  const told = fields.reduce((text, field) => text.replaceAll(` ${field}: `, ` ${nameOf(field, flags)}: `), message);
  return new RefusedError(status, code, told, { retryable, waitMs, fields });
}

function nameOf(field: string, flags: FlagsByField): string {
  if (Object.hasOwn(flags, field)) return `${flags[field]}`;
  const parents = Object.keys(flags).filter((it) => field.startsWith(`${it}/`));
  const [nearest] = parents.sort((a, b) => b.length - a.length);
  return nearest === undefined ? field : `${flags[nearest]} (${field})`;
}
