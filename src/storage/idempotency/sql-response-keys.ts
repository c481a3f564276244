import { RESPONSE_KEYS_TEXT, responseKeysIn } from '../sql/secrets-keys.js';
import type { SqlDatabase, Statement } from '../sql/sql-database.js';
import { RESPONSE_RETENTION_MS } from './idempotency-store.js';
import type { ResponseKeyStore } from './response-keys.js';

const KEYS = {
  note: {
    name: 'tollhouse_response_key_note',
    text: `insert into tollhouse_response_key (id, kept_until) values ($1, $2)
      on conflict (id) do update set kept_until = excluded.kept_until
        where tollhouse_response_key.kept_until < excluded.kept_until`,
  },
  inUse: { name: 'tollhouse_response_key_in_use', text: RESPONSE_KEYS_TEXT },
  prune: {
    name: 'tollhouse_response_key_prune',
    text: `delete from tollhouse_response_key
      where id in (select id from tollhouse_response_key where kept_until <= $1 order by kept_until limit $2) and kept_until <= $1
      returning id`,
  },
} as const satisfies Record<string, Statement>;

/** The keys of kept responses on SQLite or Postgres. The database is not closed with them. */
export function createSqlResponseKeys(database: SqlDatabase, now: () => number): ResponseKeyStore {
  return {
    note: async (keyId) => void (await database.query(KEYS.note, keyId, now() + RESPONSE_RETENTION_MS)),
    inUse: async () => responseKeysIn(await database.query(KEYS.inUse, now())),
    prune: async (limit) => (await database.query(KEYS.prune, now(), limit)).length,
  };
}
