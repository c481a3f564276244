import { defined } from '../../lib/defined.js';
import { orMissing } from '../sql/columns.js';
import type { Row } from '../sql/sql-database.js';
import { overBecause, type Pass, type PassKind } from './pass-store.js';

/** The pass of the first row, if there is one. */
export function firstPass([row]: readonly Row[], now: number): Pass | undefined {
  return row && toPass(row, now);
}

/** A pass from its row, as it is at a time. */
export function toPass(row: Row, now: number): Pass {
  const pass = {
    id: String(row.id),
    paymentId: String(row.payment_id),
    wallet: String(row.wallet),
    site: String(row.site),
    scope: String(row.scope),
    kind: String(row.kind) as PassKind,
    serial: Number(row.serial),
    openedAt: Number(row.opened_at),
  };
  const more = {
    mint: orMissing(row.mint, String),
    bought: orMissing(row.bought, amountOf),
    left: orMissing(row.remaining, amountOf),
    endsAt: orMissing(row.ends_at, Number),
    revokedAt: orMissing(row.revoked_at, Number),
    graceMs: orMissing(row.grace_ms, Number),
    owner: orMissing(row.owner, String),
    projectId: orMissing(row.project_id, String),
  };
  const known = { ...pass, ...defined(more) };
  return { ...known, ...defined({ over: overBecause(known, now) }) };
}

function amountOf(value: NonNullable<Row[string]>): bigint {
  return BigInt(String(value));
}
