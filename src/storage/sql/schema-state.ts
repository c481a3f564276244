import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { badOption } from '../../errors/errors.js';
import { namingAllMissing } from '../../lib/optional-packages.js';
import { IN_MEMORY, readDatabaseUrl } from './database-url.js';
import type { SchemaState } from './migrate.js';
import { packagesFor } from './needed-packages.js';
import { readPostgresSchema, tryPostgres } from './postgres-database.js';
import { readSqliteSchema } from './sqlite/sqlite-database.js';

/**
 * Looks how far the schema of a database is, and how large it is. Changes nothing, and makes no file.
 * @param databaseUrl - `sqlite:<path>` or `postgres://…`
 * @throws what `openStorage` throws, and `bad_option` for `memory:`, which nobody but its process can see
 */
export async function readSchema(databaseUrl: string): Promise<SchemaState> {
  const location = readDatabaseUrl(databaseUrl);
  if (location.dialect === 'sqlite' && location.path === IN_MEMORY) {
    throw badOption('readSchema', 'memory: is seen by its own process only; name a file or a server', 'databaseUrl');
  }
  return namingAllMissing('readSchema', packagesFor(databaseUrl), () =>
    location.dialect === 'postgres' ? readPostgresSchema(location.url) : readSqliteSchema(location.path),
  );
}

/**
 * Opens a database as a server does, and closes it. Changes nothing: a SQLite file, which {@link readSchema} opens, is left alone.
 * @throws what `openStorage` throws, and `store_unavailable` where fewer connections are allowed than a process opens
 */
export async function tryDatabase(databaseUrl: string): Promise<void> {
  const location = readDatabaseUrl(databaseUrl);
  if (location.dialect === 'postgres') await tryPostgres(location.url);
}

/** The whole path of the SQLite file that a database URL names, where there is no such file. Throws `bad_option`. */
export function missingFile(databaseUrl: string): string | undefined {
  const location = readDatabaseUrl(databaseUrl);
  if (location.dialect !== 'sqlite' || location.path === IN_MEMORY) return undefined;
  const file = resolve(location.path);
  return existsSync(file) ? undefined : file;
}
