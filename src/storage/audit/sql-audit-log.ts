import type { SqlDatabase, Statement } from '../sql/sql-database.js';
import type { AuditLog } from './audit-log.js';
import { AUDIT_COLUMNS, auditSteps, toAudit } from './audit-statements.js';

/** Whether a column has a value, where one is asked for. */
const isAskedFor = (column: string, place: number) => `(cast($${place} as text) is null or ${column} = $${place})`;

const LIST: Statement = {
  name: 'tollhouse_audit_list',
  text: `select ${AUDIT_COLUMNS} from tollhouse_audit
    where ${isAskedFor('owner', 1)} and ${isAskedFor('actor', 2)} and ${isAskedFor('target', 3)}
      and ${isAskedFor('action', 4)} and seq < $5
    order by seq desc limit $6`,
};

const PRUNE: Statement = {
  name: 'tollhouse_audit_prune',
  text: `delete from tollhouse_audit where seq in (select seq from tollhouse_audit where at < $1 order by at limit $2)
    returning seq`,
};

/** The audit log on SQLite or Postgres. The database is not closed with it. */
export function createSqlAuditLog(database: SqlDatabase): AuditLog {
  return {
    append: async (entries) => void (await database.batch(auditSteps(entries))),
    async list({ owner = null, actor = null, target = null, action = null, before = Number.MAX_SAFE_INTEGER, limit }) {
      return (await database.query(LIST, owner, actor, target, action, before, limit)).map(toAudit);
    },
    prune: async (before, limit) => (await database.query(PRUNE, before, limit)).length,
  };
}
