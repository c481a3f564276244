import { eventSteps } from '../events/event-statements.js';
import { amountOf, amountToSql } from '../ledger/payment-rows.js';
import { ownerLock, ownerSteps } from '../owners/owner-steps.js';
import { ENDED_MS, ENDED_PER_LIVING } from '../owners/quotas.js';
import { type ColumnValues, placesOf, valuesOf } from '../sql/columns.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';
import type {
  KeyCreation,
  KeyHolder,
  KeyPage,
  KeySpending,
  ServiceKeyRecord,
  ServiceKeyStore,
} from './service-keys.js';

const NAMES = [
  'id',
  'public_key',
  'secret_hash',
  'previous_hash',
  'previous_until',
  'owner',
  'project_id',
  'name',
  'scopes',
  'mode',
  'expires_at',
  'spending_limit',
  'spending_asset',
  'spending_token',
  'spending_decimals',
  'spending_window',
  'spending_action',
  'allowed_ips',
  'per_second',
  'metadata',
  'created_at',
  'revoked_at',
  'last_used_at',
  'version',
  'allowed_projects',
] as const;
/** What an owner can change. */
const CHANGED = [
  'name',
  'scopes',
  'expires_at',
  'spending_limit',
  'spending_asset',
  'spending_token',
  'spending_decimals',
  'spending_window',
  'spending_action',
  'allowed_ips',
  'per_second',
  'metadata',
  'allowed_projects',
] as const;
const COLUMNS = NAMES.join(', ');
/** Of the owner `$1` and, where one is given, for the project `$2`. */
const VISIBLE = 'owner = $1 and (cast($2 as text) is null or project_id = $2)';
/** Sorts behind every id. */
const LAST_ID = '~';
/** Before every key. */
const NEWEST = { createdAt: Number.MAX_SAFE_INTEGER, id: LAST_ID };

/** How many keys a wallet has that can be used at a time. */
const livingOf = (owner: string, at: string) =>
  `(select count(*) from tollhouse_service_key
    where owner = ${owner} and revoked_at is null and (expires_at is null or expires_at > ${at}))`;

/** When a key was over, if it is. */
const ENDED_AT = 'coalesce(revoked_at, expires_at)';

/** The statements of service keys, the same for every database. */
const KEYS = {
  insert: {
    name: 'tollhouse_key_insert',
    text: `insert into tollhouse_service_key (${COLUMNS}) select ${placesOf(NAMES)}
      where ${livingOf(placeOf('owner'), placeOf('created_at'))} < $${NAMES.length + 1}
        and (select count(*) from tollhouse_service_key where owner = ${placeOf('owner')}
          and ${ENDED_AT} > $${NAMES.length + 2} and (revoked_at is not null or expires_at <= ${placeOf('created_at')})
        ) / ${ENDED_PER_LIVING} < $${NAMES.length + 1}
      returning id`,
  },
  forget: {
    name: 'tollhouse_key_forget',
    text: `update tollhouse_service_key set metadata = '{}'
      where owner = $1 and ${ENDED_AT} <= $2 and metadata <> '{}'`,
  },
  /** Why none was added. After `$3` that were over later comes `crowded_at`: it must be long ago. */
  refusal: {
    name: 'tollhouse_key_refusal',
    text: `select ${livingOf('$1', '$2')} as living,
      (select ${ENDED_AT} from tollhouse_service_key where owner = $1 and (revoked_at is not null or expires_at <= $2)
        order by ${ENDED_AT} desc limit 1 offset $3) as crowded_at`,
  },
  update: {
    name: 'tollhouse_key_update',
    text: `update tollhouse_service_key set version = version + 1, ${CHANGED.map((it, at) => `${it} = $${at + 1}`).join(', ')}
      where id = $${CHANGED.length + 1} and version = $${CHANGED.length + 2} and revoked_at is null
        and (select count(*) from tollhouse_service_key others where others.owner = $${CHANGED.length + 3}
          and others.id <> $${CHANGED.length + 1} and others.revoked_at is null
          and (others.expires_at is null or others.expires_at > $${CHANGED.length + 4})) < $${CHANGED.length + 5}
      returning id`,
  },
  findByPublicKey: {
    name: 'tollhouse_key_find_by_public_key',
    text: `select ${COLUMNS} from tollhouse_service_key where public_key = $1`,
  },
  find: {
    name: 'tollhouse_key_find',
    text: `select ${COLUMNS} from tollhouse_service_key where ${VISIBLE} and id = $3`,
  },
  listAll: {
    name: 'tollhouse_key_list_all',
    text: `select ${COLUMNS} from tollhouse_service_key where (created_at, id) < ($1, $2)
      order by created_at desc, id desc limit $3`,
  },
  findAny: {
    name: 'tollhouse_key_find_any',
    text: `select ${COLUMNS} from tollhouse_service_key where id = $1`,
  },
  ownerOf: {
    name: 'tollhouse_key_owner_of',
    text: 'select owner from tollhouse_service_key where id = $1',
  },
  list: {
    name: 'tollhouse_key_list',
    text: `select ${COLUMNS} from tollhouse_service_key where ${VISIBLE} and (created_at, id) < ($3, $4)
      order by created_at desc, id desc limit $5`,
  },
  rotate: {
    name: 'tollhouse_key_rotate',
    text: `update tollhouse_service_key set previous_hash = secret_hash, previous_until = $2, secret_hash = $3
      where id = $1 and revoked_at is null returning id`,
  },
  revoke: {
    name: 'tollhouse_key_revoke',
    text: `update tollhouse_service_key set revoked_at = $2, metadata = '{}', allowed_ips = '[]', allowed_projects = '[]'
      where id = $1 and revoked_at is null returning id`,
  },
  touch: {
    name: 'tollhouse_key_touch',
    text: `update tollhouse_service_key set last_used_at = $2
      where id = $1 and (last_used_at is null or last_used_at <= $3)`,
  },
} as const satisfies Record<string, Statement>;

/** Service keys on SQLite or Postgres. The database is not closed with it. */
export function createSqlServiceKeys(database: SqlDatabase): ServiceKeyStore {
  const one = async (...step: readonly [Statement, ...(string | null)[]]) => {
    const [row] = await database.query(...step);
    return row === undefined ? undefined : toRecord(row);
  };

  async function list(holder: KeyHolder, { limit, after }: KeyPage): Promise<readonly ServiceKeyRecord[]> {
    const { createdAt = Number.MAX_SAFE_INTEGER, id = LAST_ID } = after ?? {};
    const rows = await database.query(KEYS.list, ...holderToSql(holder), createdAt, id, limit);
    return rows.map(toRecord);
  }

  return {
    list,
    async listAll({ limit, after: { createdAt, id } = NEWEST }) {
      return (await database.query(KEYS.listAll, createdAt, id, limit)).map(toRecord);
    },
    findAny: (id) => one(KEYS.findAny, id),
    async insert(record, event, most = Number.MAX_SAFE_INTEGER) {
      const { owner, createdAt } = record;
      const since = createdAt - ENDED_MS;
      const step = [KEYS.insert, ...valuesOf(NAMES, recordToSql(record)), most, since] as const;
      const steps = [...ownerSteps(owner, createdAt), [KEYS.forget, owner, since] as const, ...eventSteps([event])];
      const rows = await database.batchIf(step, steps, ownerLock(database, owner));
      return rows.length > 0 ? { status: 'kept' } : whyRefused(database, record, most);
    },
    async update(record, event, most = Number.MAX_SAFE_INTEGER) {
      const { id, owner, version = 1 } = record;
      const step = [
        KEYS.update,
        ...valuesOf(CHANGED, recordToSql(record)),
        id,
        version,
        owner,
        event.at,
        most,
      ] as const;
      return (await database.batchIf(step, eventSteps([event]), ownerLock(database, owner))).length > 0;
    },
    findByPublicKey: (publicKey) => one(KEYS.findByPublicKey, publicKey),
    find: (id, holder) => one(KEYS.find, ...holderToSql(holder), id),
    async ownerOf(id) {
      const [row] = await database.query(KEYS.ownerOf, id);
      return row === undefined ? undefined : String(row.owner);
    },
    rotate: async (id, { secretHash, previousUntil }, event) =>
      (await database.batchIf([KEYS.rotate, id, previousUntil, secretHash], eventSteps([event]))).length > 0,
    revoke: async (id, at, event) => (await database.batchIf([KEYS.revoke, id, at], eventSteps([event]))).length > 0,
    touch: async (id, at, everyMs) => void (await database.query(KEYS.touch, id, at, at - everyMs)),
  };
}

async function whyRefused(
  database: SqlDatabase,
  { owner, createdAt }: ServiceKeyRecord,
  most: number,
): Promise<KeyCreation> {
  const mostEnded = Math.min(most * ENDED_PER_LIVING, Number.MAX_SAFE_INTEGER);
  const [row] = await database.query(KEYS.refusal, owner, createdAt, Math.max(0, mostEnded - 1));
  const { living, crowded_at } = row ?? {};
  if (Number(living) >= most || crowded_at === null) return { status: 'quota_reached' };
  return { status: 'quota_reached', freeAt: Number(crowded_at) + ENDED_MS };
}

function placeOf(column: (typeof NAMES)[number]): string {
  return `$${NAMES.indexOf(column) + 1}`;
}

function holderToSql({ wallet, projectId }: KeyHolder) {
  return [wallet, projectId ?? null] as const;
}

function recordToSql(key: ServiceKeyRecord): ColumnValues<(typeof NAMES)[number]> {
  const { spending } = key;
  return {
    id: key.id,
    public_key: key.publicKey,
    secret_hash: key.secretHash,
    previous_hash: key.previousHash ?? null,
    previous_until: key.previousUntil ?? null,
    owner: key.owner,
    project_id: key.projectId ?? null,
    name: key.name,
    scopes: JSON.stringify(key.scopes),
    mode: key.mode,
    expires_at: key.expiresAt ?? null,
    spending_limit: spending === undefined ? null : amountToSql(spending.limit),
    spending_asset: spending?.asset ?? null,
    spending_token: spending?.token ?? null,
    spending_decimals: spending?.decimals ?? null,
    spending_window: spending?.window ?? null,
    spending_action: spending?.action ?? null,
    allowed_ips: JSON.stringify(key.allowedIps),
    per_second: key.perSecond ?? null,
    metadata: JSON.stringify(key.metadata),
    created_at: key.createdAt,
    revoked_at: key.revokedAt ?? null,
    last_used_at: key.lastUsedAt ?? null,
    version: key.version ?? 1,
    allowed_projects: JSON.stringify(key.allowedProjects ?? []),
  };
}

function toRecord(row: Row): ServiceKeyRecord {
  const number = (column: string, name: string) => (row[column] === null ? {} : { [name]: Number(row[column]) });
  return {
    id: String(row.id),
    publicKey: String(row.public_key),
    secretHash: String(row.secret_hash),
    owner: String(row.owner),
    name: String(row.name),
    scopes: JSON.parse(String(row.scopes)) as string[],
    mode: row.mode as ServiceKeyRecord['mode'],
    allowedIps: JSON.parse(String(row.allowed_ips)) as string[],
    metadata: JSON.parse(String(row.metadata)) as Record<string, string>,
    createdAt: Number(row.created_at),
    version: Number(row.version),
    allowedProjects: JSON.parse(String(row.allowed_projects)) as string[],
    ...(row.previous_hash === null ? {} : { previousHash: String(row.previous_hash) }),
    ...(row.project_id === null ? {} : { projectId: String(row.project_id) }),
    ...(row.spending_limit === null ? {} : { spending: toSpending(row) }),
    ...number('previous_until', 'previousUntil'),
    ...number('expires_at', 'expiresAt'),
    ...number('per_second', 'perSecond'),
    ...number('revoked_at', 'revokedAt'),
    ...number('last_used_at', 'lastUsedAt'),
  };
}

function toSpending(row: Row): KeySpending {
  return {
    limit: amountOf(row.spending_limit),
    asset: String(row.spending_asset),
    token: String(row.spending_token),
    decimals: Number(row.spending_decimals),
    window: row.spending_window as KeySpending['window'],
    action: row.spending_action as KeySpending['action'],
  };
}
