import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import type { LoggedAudit } from '../../storage/audit/audit-log.js';
import type { OwnerRecord, Suspension } from '../../storage/owners/owners.js';
import { DEFAULT_FEE_PERCENT, type OwnerLimits } from '../../storage/owners/quotas.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { type ResponseBody, timeOrNull, timeText } from '../framework/fields.js';
import type {
  auditResponse,
  operatorKeyResponse,
  operatorProjectResponse,
  ownerResponse,
  suspensionResponse,
} from './schemas.js';

/** The suspensions of one thing. */
interface OwnerSuspensions {
  readonly owner: Suspension | undefined;
  readonly wallet: Suspension | undefined;
}

/** An owner as operators see it. */
export function ownerView(
  { wallet, since, projects, keys, webhooks }: OwnerRecord,
  quotas: Omit<OwnerLimits, 'feePercent'> & Partial<OwnerLimits>,
  suspended: OwnerSuspensions,
): ResponseBody<typeof ownerResponse> {
  const { projectBytes, dailyChanges, unpaidRequests, feePercent = DEFAULT_FEE_PERCENT, ...counts } = quotas;
  return {
    wallet,
    since: timeText(since),
    projects,
    keys,
    webhooks,
    quotas: {
      ...counts,
      project_bytes: projectBytes,
      daily_changes: dailyChanges,
      unpaid_requests: unpaidRequests,
      fee_percent: feePercent,
    },
    suspended_at: timeOrNull(suspended.owner?.at),
    wallet_suspended_at: timeOrNull(suspended.wallet?.at),
  };
}

/** A project as operators see it. */
export function operatorProjectView(
  { id, slug, name, owner, state, visibility, createdAt, updatedAt }: ProjectRecord,
  suspended: Suspension | undefined,
): ResponseBody<typeof operatorProjectResponse> {
  const times = { created_at: timeText(createdAt), updated_at: timeText(updatedAt) };
  return { id, slug, name, owner, state, visibility, ...times, suspended_at: timeOrNull(suspended?.at) };
}

/** A service key as operators see it. */
export function operatorKeyView(
  { id, name, owner, scopes, mode, ...key }: ServiceKey,
  suspended: Suspension | undefined,
): ResponseBody<typeof operatorKeyResponse> {
  return {
    ...{ id, name, owner, scopes, mode },
    project_id: key.projectId ?? null,
    created_at: timeText(key.createdAt),
    expires_at: timeOrNull(key.expiresAt),
    last_used_at: timeOrNull(key.lastUsedAt),
    revoked_at: timeOrNull(key.revokedAt),
    suspended_at: timeOrNull(suspended?.at),
  };
}

/** What is suspended. */
export function suspensionView({
  kind,
  target,
  at,
  operator,
  reason,
}: Suspension): ResponseBody<typeof suspensionResponse> {
  return { kind, target, suspended_at: timeText(at), operator, reason: reason ?? null };
}

/** An entry of the audit log. */
export function auditView({
  id,
  at,
  actor,
  action,
  target,
  owner,
  details,
}: LoggedAudit): ResponseBody<typeof auditResponse> {
  const { wallet, keyId = null, address = null, requestId = null } = actor;
  return {
    id,
    at: timeText(at),
    actor: { wallet, key_id: keyId, address, request_id: requestId },
    ...{ action, target, owner, details },
  };
}
