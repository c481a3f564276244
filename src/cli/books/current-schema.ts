import { missingFile, readSchema } from '../../storage/sql/schema-state.js';
import { CommandError, UsageError } from '../command.js';

type SchemaState = Awaited<ReturnType<typeof readSchema>>;

/**
 * Looks at the schema of a database that shall only be read. Changes nothing, and makes no file.
 * @throws UsageError for a file that is not there, which would look like a database without a schema
 */
export async function lookAtSchema(databaseUrl: string): Promise<SchemaState> {
  refuseMissingFile(databaseUrl);
  return readSchema(databaseUrl);
}

/** Throws UsageError for a file that is not there. */
export function refuseMissingFile(databaseUrl: string): void {
  const missing = missingFile(databaseUrl);
  if (missing === undefined) return;
  throw new UsageError(
    `no such file: ${missing}, which DATABASE_URL names ("${databaseUrl}"); name the one that the server has, or make a new one: npx tollhouse db migrate`,
  );
}

/**
 * For a database that is about to be read, whose schema must be up to date.
 * @throws UsageError for a file that is not there, CommandError where steps of the schema are pending
 */
export async function requireSchema(databaseUrl: string): Promise<void> {
  const { pending } = await lookAtSchema(databaseUrl);
  if (pending.length > 0) throw new CommandError('the schema is not up to date; npx tollhouse db migrate');
}
