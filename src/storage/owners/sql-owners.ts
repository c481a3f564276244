import { defined } from '../../lib/defined.js';
import { auditSteps } from '../audit/audit-statements.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';
import { ownerSteps } from './owner-steps.js';
import type { OwnerRecord, OwnerStore, SuspendedKind, Suspension } from './owners.js';
import type { OwnerLimits } from './quotas.js';

const QUOTAS = `quota_projects, quota_keys, quota_webhooks, quota_project_bytes, quota_daily_changes, quota_unpaid_requests,
  fee_percent`;
const COLUMNS = `wallet, since, ${QUOTAS},
  (select count(*) from tollhouse_project where owner = wallet and state <> 'deleted') as projects,
  (select count(*) from tollhouse_service_key where owner = wallet and revoked_at is null) as keys,
  (select count(*) from tollhouse_webhook where owner = wallet) as webhooks`;

/** A quota after a change: `$set` says whether it is changed. */
const changed = (column: string, place: number) =>
  `${column} = case when $${place} = 1 then cast($${place + 1} as integer) else ${column} end`;

const OWNERS = {
  list: {
    name: 'tollhouse_owner_list',
    text: `select ${COLUMNS} from tollhouse_owner where (since, wallet) < ($1, $2)
      order by since desc, wallet desc limit $3`,
  },
  find: { name: 'tollhouse_owner_find', text: `select ${COLUMNS} from tollhouse_owner where wallet = $1` },
  quotas: { name: 'tollhouse_owner_quotas', text: `select ${QUOTAS} from tollhouse_owner where wallet = $1` },
  setQuotas: {
    name: 'tollhouse_owner_set_quotas',
    text: `update tollhouse_owner set ${changed('quota_projects', 2)}, ${changed('quota_keys', 4)},
      ${changed('quota_webhooks', 6)}, ${changed('quota_project_bytes', 8)}, ${changed('fee_percent', 10)},
      ${changed('quota_daily_changes', 12)}, ${changed('quota_unpaid_requests', 14)}
      where wallet = $1`,
  },
  suspensions: {
    name: 'tollhouse_suspension_list',
    text: 'select kind, target, at, operator, reason from tollhouse_suspension order by at desc, kind, target',
  },
  suspend: {
    name: 'tollhouse_suspension_add',
    text: `insert into tollhouse_suspension (kind, target, at, operator, reason) values ($1, $2, $3, $4, $5)
      on conflict do nothing returning target`,
  },
  resume: {
    name: 'tollhouse_suspension_remove',
    text: 'delete from tollhouse_suspension where kind = $1 and target = $2 returning target',
  },
} as const satisfies Record<string, Statement>;

/** Before every owner. */
const NEWEST = { since: Number.MAX_SAFE_INTEGER, wallet: '' };

/** Owners on SQLite or Postgres. The database is not closed with it. */
export function createSqlOwners(database: SqlDatabase): OwnerStore {
  return {
    list: async (limit, { since, wallet } = NEWEST) =>
      (await database.query(OWNERS.list, since, wallet, limit)).map(toOwner),
    async find(wallet) {
      const [row] = await database.query(OWNERS.find, wallet);
      return row === undefined ? undefined : toOwner(row);
    },
    async quotasOf(wallet) {
      const [row] = await database.query(OWNERS.quotas, wallet);
      return row === undefined ? {} : toQuotas(row);
    },
    async setQuotas(wallet, { projects, keys, webhooks, projectBytes, feePercent, ...daily }, audit) {
      const { dailyChanges, unpaidRequests } = daily;
      const wanted = [projects, keys, webhooks, projectBytes, feePercent, dailyChanges, unpaidRequests];
      const values = wanted.flatMap((it) => [it === undefined ? 0 : 1, it ?? null]);
      await database.batch([
        ...ownerSteps(wallet, audit.at),
        [OWNERS.setQuotas, wallet, ...values],
        ...auditSteps([audit]),
      ]);
    },
    suspensions: async () => (await database.query(OWNERS.suspensions)).map(toSuspension),
    async suspend({ kind, target, at, operator, reason = null }, audit) {
      const step = [OWNERS.suspend, kind, target, at, operator, reason] as const;
      return (await database.batchIf(step, auditSteps([audit]))).length > 0;
    },
    resume: async (kind, target, audit) =>
      (await database.batchIf([OWNERS.resume, kind, target], auditSteps([audit]))).length > 0,
  };
}

function toOwner(row: Row): OwnerRecord {
  return {
    wallet: String(row.wallet),
    since: Number(row.since),
    projects: Number(row.projects),
    keys: Number(row.keys),
    webhooks: Number(row.webhooks),
    quotas: toQuotas(row),
  };
}

function toQuotas(row: Row): Partial<OwnerLimits> {
  const number = (column: string) => (row[column] === null ? undefined : Number(row[column]));
  return defined({
    projects: number('quota_projects'),
    keys: number('quota_keys'),
    webhooks: number('quota_webhooks'),
    projectBytes: number('quota_project_bytes'),
    dailyChanges: number('quota_daily_changes'),
    unpaidRequests: number('quota_unpaid_requests'),
    feePercent: number('fee_percent'),
  });
}

function toSuspension({ kind, target, at, operator, reason }: Row): Suspension {
  return {
    kind: kind as SuspendedKind,
    target: String(target),
    at: Number(at),
    operator: String(operator),
    ...(reason === null ? {} : { reason: String(reason) }),
  };
}
