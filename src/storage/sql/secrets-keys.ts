import type { SchemaConnection, SchemaSteps } from './migrate.js';
import type { Row } from './sql-database.js';

/** Rows with the ids of keys that secrets of upstreams are encrypted with, for {@link secretsKeysIn}. */
export const SECRETS_KEYS_TEXT = `select distinct secrets_keys from tollhouse_project where secrets_keys is not null and state <> 'deleted'`;

const STEP = '0026-upstreams';

/** The ids in rows of {@link SECRETS_KEYS_TEXT}, each once. */
export function secretsKeysIn(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => String(row.secrets_keys).split(' ')))];
}

/** The keys without which a server on this database does not start; none where its schema is older than they are. */
export async function readSecretsKeys({ run }: SchemaConnection, { made }: SchemaSteps): Promise<readonly string[]> {
  return made.includes(STEP) ? secretsKeysIn(await run(SECRETS_KEYS_TEXT)) : [];
}
