import type { SchemaConnection, SchemaState, SchemaSteps } from './migrate.js';
import type { Row } from './sql-database.js';

/** Ids of the keys that something in a database is encrypted with. */
export type KeysInUse = Pick<SchemaState, 'secretsKeys' | 'responseKeys'>;

/** Rows with the ids of keys that secrets of upstreams are encrypted with, for {@link secretsKeysIn}. */
export const SECRETS_KEYS_TEXT = `select distinct secrets_keys from tollhouse_project where secrets_keys is not null and state <> 'deleted'`;

/** Rows with the ids of keys that responses are sealed with that are kept beyond a moment, for {@link responseKeysIn}. */
export const RESPONSE_KEYS_TEXT = 'select id from tollhouse_response_key where kept_until > $1 order by id';

const SECRETS_STEP = '0026-upstreams';
const RESPONSES_STEP = '0039-response-keys';

/** The ids in rows of {@link SECRETS_KEYS_TEXT}, each once. */
export function secretsKeysIn(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => String(row.secrets_keys).split(' ')))];
}

/** The ids in rows of {@link RESPONSE_KEYS_TEXT}. */
export function responseKeysIn(rows: readonly Row[]): readonly string[] {
  return rows.map(({ id }) => String(id));
}

/** The keys that a database wants; none of what its schema is too old for. */
export async function readKeysInUse({ run }: SchemaConnection, { made }: SchemaSteps): Promise<KeysInUse> {
  return {
    secretsKeys: made.includes(SECRETS_STEP) ? secretsKeysIn(await run(SECRETS_KEYS_TEXT)) : [],
    responseKeys: made.includes(RESPONSES_STEP) ? responseKeysIn(await run(RESPONSE_KEYS_TEXT, Date.now())) : [],
  };
}
