import { type ColumnValues, placesOf, valuesOf } from '../sql/columns.js';
import type { Row, Statement, Step } from '../sql/sql-database.js';
import type { AuditEntry, LoggedAudit } from './audit-log.js';

const NAMES = ['id', 'at', 'actor', 'key_id', 'address', 'request_id', 'action', 'target', 'owner', 'details'] as const;

const APPEND: Statement = {
  name: 'tollhouse_audit_append',
  text: `insert into tollhouse_audit (${NAMES.join(', ')}) values (${placesOf(NAMES)})`,
};

/** The columns that {@link toAudit} reads. */
export const AUDIT_COLUMNS = `seq, ${NAMES.join(', ')}`;

/** The steps that write entries, to be put into the transaction of what they tell. */
export function auditSteps(entries: readonly AuditEntry[] = []): readonly Step[] {
  return entries.map((entry) => [APPEND, ...valuesOf(NAMES, auditToSql(entry))]);
}

function auditToSql({ actor, details, ...entry }: AuditEntry): ColumnValues<(typeof NAMES)[number]> {
  return {
    id: entry.id,
    at: entry.at,
    actor: actor.wallet,
    key_id: actor.keyId ?? null,
    address: actor.address ?? null,
    request_id: actor.requestId ?? null,
    action: entry.action,
    target: entry.target,
    owner: entry.owner,
    details: JSON.stringify(details),
  };
}

/** A row of `tollhouse_audit`. */
export function toAudit(row: Row): LoggedAudit {
  const text = (column: string, name: string) => (row[column] === null ? {} : { [name]: String(row[column]) });
  return {
    seq: Number(row.seq),
    id: String(row.id),
    at: Number(row.at),
    actor: {
      wallet: String(row.actor),
      ...text('key_id', 'keyId'),
      ...text('address', 'address'),
      ...text('request_id', 'requestId'),
    },
    action: String(row.action),
    target: String(row.target),
    owner: String(row.owner),
    details: JSON.parse(String(row.details)) as AuditEntry['details'],
  };
}
